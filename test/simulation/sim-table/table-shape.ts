/** What the model reads of a table's schema: the form of shared/table/schema.ts. */
export type TableShape = {
  readonly partitionKey: 'pk'
  readonly sortKey: 'sk'
  readonly attributeTypes: Readonly<Record<string, 'S' | 'N'>>
  readonly indexes: Readonly<Record<string, IndexShape>>
}

export type IndexShape = {
  readonly partition: readonly string[]
  readonly sort: readonly string[]
  readonly include: readonly string[]
}
