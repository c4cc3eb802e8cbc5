/**
 * What operators and merchants leave alone while the release before runs, or may come back: no more than the documents
 * tell them (docs/operations.md, section 2, "Two releases on one table"). Besides, rows are complete (`storedRows`), with
 * which a client has one part.
 */
import type { World } from './world.ts'

type Places = Pick<World, 'beside'>

/** That release knows no permissions: a key that may only read could do everything. */
export const mayRestrict = ({ beside }: Places): boolean => beside === undefined

/** It passes over `idempotency_key` and `external_reference` of a list, and shows all payments. */
export const mayLookUp = ({ beside }: Places): boolean => beside === undefined || beside.isNow('api-list-payments')

/** Its audit record of a change names what another operator has changed at the same moment. */
export const mayChangeTogether = ({ beside }: Places): boolean => beside === undefined

/**
 * It does not know of money that went back: it would pay it out, or put it back with what it re-credits. From the first
 * update on, what records settlements or re-credits them runs as this release or not at all: the sweep and its workers
 * have no runs, and no operator asks for the others.
 */
export const SETTLING: readonly string[] = [
  'sweep-settlements',
  'settle-client',
  'trigger-settlement',
  'recredit-settlement',
]
