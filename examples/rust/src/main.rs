//! Buys a token for SOL over REST, and sells everything again.
//!
//! TRADEWIRE_URL=http://127.0.0.1:8080 TRADEWIRE_KEY=<base58 key> MINT=<mint> cargo run
use base64::{engine::general_purpose::STANDARD, Engine};
use ed25519_dalek::{Signer, SigningKey};
use serde_json::{json, Value};
use std::{env, error::Error, thread::sleep, time::Duration};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let secret = bs58::decode(env::var("TRADEWIRE_KEY")?).into_vec()?;
    let seed: [u8; 32] = secret.get(..32).ok_or("TRADEWIRE_KEY is too short")?.try_into()?;
    let service = Service::register(env::var("TRADEWIRE_URL")?, SigningKey::from_bytes(&seed))?;

    let mint = env::var("MINT")?;
    service.trade("/v1/tx/buy", json!({"mint": mint, "solAmount": 0.1, "slippage": 0.05, "priority": "fast"}))?;
    service.trade("/v1/tx/sell", json!({"mint": mint, "sellPercent": 100, "slippage": 0.05, "priority": "fast"}))
}

/// The service as one wallet uses it.
struct Service {
    url: String,
    key: SigningKey,
    api_key: String,
}

impl Service {
    /// Signs a challenge and gets an API key for the wallet.
    fn register(url: String, key: SigningKey) -> Outcome<Self> {
        let wallet = bs58::encode(key.verifying_key().as_bytes()).into_string();
        let challenge = call(&url, "/v1/auth/challenge", "", json!({"walletAddress": wallet}))?;
        let message = text(&challenge, "message")?;
        let signature = bs58::encode(key.sign(message.as_bytes()).to_bytes()).into_string();
        let proof = json!({"walletAddress": wallet, "message": message, "signature": signature});
        let registered = call(&url, "/v1/auth/register", "", proof)?;
        let api_key = text(&registered, "apiKey")?.to_owned();
        Ok(Self { url, key, api_key })
    }

    /// Builds, signs and submits. The signature goes into the one slot before the message; nothing else changes.
    fn trade(&self, path: &str, order: Value) -> Outcome<()> {
        let built = call(&self.url, path, &self.api_key, order)?;
        let mut wire = STANDARD.decode(text(&built, "unsignedTransaction")?)?;
        let signature = self.key.sign(&wire[65..]).to_bytes();
        wire[1..65].copy_from_slice(&signature);
        let signed = json!({"submissionToken": text(&built, "submissionToken")?, "signedTransaction": STANDARD.encode(&wire)});
        let mut done = call(&self.url, "/v1/tx/submit", &self.api_key, signed.clone())?;
        // Not decided within 25 s: the same bytes may be sent again, and stay one trade.
        while done["status"] == "pending" || done["status"] == "processed" {
            sleep(Duration::from_secs(1));
            done = call(&self.url, "/v1/tx/submit", &self.api_key, signed.clone())?;
        }
        let amounts = match &done["tradeResult"] {
            Value::Null => "amounts not known yet".to_owned(),
            moved => format!("{} -> {}", moved["inputAmount"], moved["outputAmount"]),
        };
        println!("{} {}: {amounts} ({})", text(&done, "status")?, text(&done, "platform")?, text(&done, "signature")?);
        Ok(())
    }
}

/// Asks again after a lost connection, 429 and 503: a submit that is repeated stays one trade.
fn call(url: &str, path: &str, api_key: &str, body: Value) -> Outcome<Value> {
    let mut pauses = [1, 2, 4, 8].into_iter();
    loop {
        let answer = post(&format!("{url}{path}"), api_key, &body);
        if let Ok((200, answer)) = answer {
            return Ok(answer["data"].clone());
        }
        match (answer, pauses.next()) {
            (Ok((429 | 503, _)) | Err(_), Some(seconds)) => sleep(Duration::from_secs(seconds)),
            (Ok((_, answer)), _) => {
                return Err(format!("{}: {}", answer["error"]["code"], answer["error"]["message"]).into())
            }
            (Err(lost), None) => return Err(lost),
        }
    }
}

/// Sends one request. An error says that no whole answer came.
fn post(url: &str, api_key: &str, body: &Value) -> Outcome<(u16, Value)> {
    let mut request = ureq::post(url).timeout(Duration::from_secs(40));
    if !api_key.is_empty() {
        request = request.set("authorization", &format!("Bearer {api_key}"));
    }
    match request.send_json(body) {
        Ok(response) | Err(ureq::Error::Status(_, response)) => Ok((response.status(), response.into_json()?)),
        Err(lost) => Err(lost.into()),
    }
}

fn text<'a>(value: &'a Value, name: &str) -> Outcome<&'a str> {
    value[name].as_str().ok_or_else(|| format!("no {name} in the answer").into())
}
