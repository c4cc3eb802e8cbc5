import * as v from 'valibot'

/*
 * Fields of the objects that merchants get: the types of our answers, and their API descriptions.
 * Deployed code imports only the types; it parses nothing with these schemas.
 */

export function described<const Schema extends v.GenericSchema>(schema: Schema, what: string) {
  return v.pipe(schema, v.description<v.InferOutput<Schema>, string>(what))
}

export const ID = v.pipe(v.string(), v.uuid())
export const TIME = v.pipe(v.string(), v.isoTimestamp())
export const WHOLE = v.pipe(v.number(), v.integer())

export function id(what: string) {
  return described(ID, what)
}

export function text(what: string) {
  return described(v.string(), what)
}

export function amount(what: string) {
  return described(WHOLE, what)
}

export function oneOf<const Options extends readonly string[]>(options: Options, what: string) {
  return described(v.picklist(options), what)
}

export function time(what: string) {
  return described(TIME, what)
}
