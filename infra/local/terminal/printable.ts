const escaped = (characters: string): string =>
  Array.from({ length: characters.length }, (_, at) => characters.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('')

/**
 * Text from outside as one line for a terminal: controls (C0, C1) and format characters (bidi, invisible ones) are
 * written as `\uXXXX`, those beyond the first plane as two. They could rewrite what an operator has read, or forge a line.
 */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, escaped)

/** The same for text whose line breaks are our own layout. JSON stays the same JSON: such characters are only inside its texts. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n')

/** What a tool prints through. */
export type Output = { readonly out: (text: string) => void; readonly err: (text: string) => void }

/** What a tool prints through: whatever reaches it, no character of it is a command to the terminal. */
export const onTerminal = <Io extends Output>(io: Io): Io => ({
  ...io,
  out: (text) => io.out(printableLines(text)),
  err: (text) => io.err(printableLines(text)),
})
