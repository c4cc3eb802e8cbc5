import type { ClientId } from './ids.ts'

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name

/** An action's fields under the domain's names, `client_id` as the id of a client. */
export type ActionRequest<Fields> = {
  [Name in keyof Fields as CamelCase<Name & string>]: Name extends 'client_id'
    ? ClientId | Exclude<Fields[Name], string>
    : Fields[Name]
}
