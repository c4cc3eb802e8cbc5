export type ResolvedAddress = { readonly address: string; readonly family: 4 | 6 }

/** All addresses of a name, IPv4 first. Rejects when it has none or nobody knows. */
export type ResolveHost = (hostname: string) => Promise<readonly ResolvedAddress[]>
