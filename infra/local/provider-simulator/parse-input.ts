import * as v from 'valibot'
import { ProviderError } from './provider-error.ts'

/** Parses what a caller sent. Throws `API_VALIDATION_ERROR` that names every field in question. */
export const parseInput = <S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> => {
  const result = v.safeParse(schema, input)
  if (result.success) return result.output
  const errors = result.issues.map((issue) => {
    const path = v.getDotPath(issue)
    return path ? `${path}: ${issue.message}` : issue.message
  })
  throw new ProviderError('API_VALIDATION_ERROR', errors.join('; '), errors)
}

/** Reads a JSON body; an empty one counts as absent. Throws `API_VALIDATION_ERROR` when it is not JSON. */
export const parseJson = (body: string): unknown => {
  if (body.trim() === '') return undefined
  try {
    return JSON.parse(body)
  } catch {
    throw new ProviderError('API_VALIDATION_ERROR', 'The request body is not valid JSON')
  }
}
