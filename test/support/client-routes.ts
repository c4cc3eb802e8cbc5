import { answersClients, routeKeyOf } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'

/** Each route of the manifest that a merchant calls. */
export const CLIENT_ROUTES = MANIFEST.filter(answersClients).flatMap(
  (spec) => routeKeyOf(spec) ?? [],
)
