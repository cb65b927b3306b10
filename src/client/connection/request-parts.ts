// A URL or a header may hold a secret. `fetch` refuses a malformed one only once it is called, and repeats it in its error.

/**
 * The URL of a service or a node that the caller named.
 * @param base the URL that a relative one is resolved against: the page of a browser @throws TypeError unless requests can be sent to it
 */
export function requestUrl(text: string, what: string, base?: string): URL {
  const url = URL.canParse(text, base) ? new URL(text, base) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new TypeError(`${what} begins with http:// or https://.`);
  }
  if (url.username === "" && url.password === "") return url;
  throw new TypeError(`${what} holds a user or a password, which requests carry in no URL.`);
}

/** @throws TypeError for a value that no header can carry */
export function checkHeader(value: string, what: string): void {
  try {
    new Headers({ value });
  } catch {
    throw new TypeError(`${what} holds a character that no header can carry: is there more in it than the key?`);
  }
}
