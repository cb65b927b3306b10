"""Base58, as addresses and signatures are written."""

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def encode58(data: bytes) -> str:
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = ALPHABET[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text


def decode58(text: str) -> bytes:
    number = 0
    for character in text:
        if character not in ALPHABET:
            raise ValueError("not base58")
        number = number * 58 + ALPHABET.index(character)
    leading = len(text) - len(text.lstrip("1"))
    return bytes(leading) + number.to_bytes((number.bit_length() + 7) // 8, "big")
