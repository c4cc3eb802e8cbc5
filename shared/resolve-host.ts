export type ResolvedAddress = { readonly address: string; readonly family: 4 | 6 }

/** Answers all addresses of a name, IPv4 first. Rejects if it has none or DNS fails. */
export type ResolveHost = (hostname: string) => Promise<readonly ResolvedAddress[]>
