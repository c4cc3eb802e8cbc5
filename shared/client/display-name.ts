const SHORTEST = 3
const LONGEST = 50

/**
 * The name a bank shows to whoever pays into a virtual account. Banks take letters and spaces only; a name with too
 * little of that left gives way to the stage's default.
 */
export const displayNameOf = (clientName: string, fallback: string): string => {
  const plain = clientName
    .normalize('NFKD')
    .replace(/[^A-Za-z ]/g, '')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, LONGEST)
    .trim()
  return plain.length >= SHORTEST ? plain : fallback
}
