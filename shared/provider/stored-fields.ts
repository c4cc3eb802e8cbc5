import * as v from 'valibot'

const Fields = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown()))

/** The fields of a secret that is stored as a JSON object; undefined for any other text. */
export const storedFields = (text: string): Readonly<Record<string, unknown>> | undefined => {
  const parsed = v.safeParse(Fields, text)
  return parsed.success ? parsed.output : undefined
}
