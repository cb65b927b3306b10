/** The curl command of a call. @param url whole, with its query @param apiKey may be `$API_KEY`: the shell expands it */
export function curlFor(method, url, apiKey, body, { isStream = false } = {}) {
  const verb = method === "GET" ? "" : `-X ${method} `;
  const lines = [`curl ${isStream ? "-sN" : "-s"} ${verb}${url.includes("?") ? `'${url}'` : url}`];
  // In double quotes, so that the shell expands $API_KEY.
  if (apiKey !== undefined) lines.push(`  -H "Authorization: Bearer ${apiKey}"`);
  if (body !== undefined) {
    lines.push("  -H 'Content-Type: application/json'");
    lines.push(`  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`);
  }
  return lines.join(" \\\n");
}
