// Builds the header with which a client authenticates at a token endpoint.

/** RFC 6749 section 2.3.1: id and secret are form-encoded before they are joined. */
export function basicHeader(id: string | undefined, secret: string | undefined): { readonly authorization?: string } {
  if (id === undefined || secret === undefined) return {};
  const pair = `${formEncoded(id)}:${formEncoded(secret)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}
