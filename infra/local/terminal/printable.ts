/**
 * Makes a foreign text safe as one line on a terminal: control and format characters (C0, C1, bidi, invisible) become
 * `\uXXXX`. They could otherwise rewrite lines that the operator has read, or forge a line.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, escaped)
}

function escaped(characters: string): string {
  return Array.from({ length: characters.length }, (_, at) => characters.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('')
}

/** The same, but keeps line breaks. JSON keeps its meaning: the escaped characters occur only inside its texts. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** The two outputs of a tool. */
export type Output = { readonly out: (text: string) => void; readonly err: (text: string) => void }

/** Outputs that make every text safe for a terminal. */
export function onTerminal<Io extends Output>(io: Io): Io {
  return {
    ...io,
    out: (text) => io.out(printableLines(text)),
    err: (text) => io.err(printableLines(text)),
  }
}
