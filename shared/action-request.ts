import type { ClientId, EndpointId } from './ids.ts'

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name

export type Ids = { readonly client_id: ClientId; readonly endpoint_id: EndpointId }

/** An action's fields under the domain's names, with the ids of clients and endpoints. */
export type ActionRequest<Fields> = {
  [Name in keyof Fields as CamelCase<Name & string>]: Name extends keyof Ids
    ? Ids[Name] | Exclude<Fields[Name], string>
    : Fields[Name]
}
