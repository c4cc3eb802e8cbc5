import { findClient } from '../../client/client-store.ts'
import type { TableDeps } from '../../deps.ts'
import { notFound } from '../../errors.ts'
import type { ClientId } from '../../ids.ts'
import { firstOfPage, type Page } from '../../page.ts'
import type { Endpoint } from './endpoint.ts'
import { liveEndpoints } from './find-endpoints.ts'

/** A client's endpoints that are not deleted, newest first. Throws 404 for an unknown client. */
export const listEndpoints = async (deps: TableDeps, clientId: ClientId, page: Page): Promise<readonly Endpoint[]> => {
  if (!(await findClient(deps, clientId))) throw notFound('client')
  return (await newestEndpoints(deps, clientId)).slice(firstOfPage(page), firstOfPage(page) + page.perPage)
}

/** All of them: registration limits their number to what one answer holds. */
export const newestEndpoints = async (deps: TableDeps, clientId: ClientId): Promise<readonly Endpoint[]> =>
  (await liveEndpoints(deps, clientId)).toSorted(newestFirst)

const sortKey = ({ createdAt, endpointId }: Endpoint) => `${createdAt} ${endpointId}`
const newestFirst = (a: Endpoint, b: Endpoint) => (sortKey(a) < sortKey(b) ? 1 : -1)
