import { DAYS_TO_PAYOUT } from './demo-walk.ts'
import type { LocalCloud } from './local-cloud.ts'
import { DEFAULT_PORT } from './terminal/command-line.ts'

const DAY_SECONDS = 86_400

type StartedCloud = Pick<LocalCloud, 'urls' | 'demoClient' | 'table'> &
  Partial<Pick<LocalCloud, 'testEnvironment'>>
type Urls = StartedCloud['urls']
type StartFacts = { readonly startedInMs: number; readonly data?: string | undefined }

export function banner(
  { urls, demoClient, table, testEnvironment }: StartedCloud,
  { startedInMs, data }: StartFacts,
) {
  return `
The gateway is ready (${(startedInMs / 1_000).toFixed(1)} s). State: ${data ?? 'in memory'}. Ctrl-C stops it.

  Console        ${urls.api}/console   create, pay and watch in a browser

  API            ${urls.api}/v1
  Lambda Invoke  ${urls.lambda}   clock, alerts and log: /_local/clock /_local/alerts /_local/log
  Provider       ${providerLine(urls, testEnvironment)}
  Webhook inbox  ${urls.inbox}/received
  Table          ${table.place}

  Demo client    ${demoClient.client_id}
  API key        ${demoClient.api_key}
  Endpoint       ${demoClient.endpoint_url}
  Its secret     ${demoClient.signing_secret}

${commandsToTry(urls, demoClient, testEnvironment ? LONGEST_ASK_SECONDS : 1)}
${testEnvironment ? '' : commandsOfLaterDays(urls)}${awsCommand(urls)}`
}

/** Without a public address the gateway asks every ten seconds. */
const LONGEST_ASK_SECONDS = 15

function providerLine({ provider }: Urls, environment: StartedCloud['testEnvironment']) {
  if (!environment) return `${provider}   every control and fault, with examples: /_simulator`
  const { url, callbackUrl } = environment
  const news = callbackUrl
    ? `set ${callbackUrl} as its callback URL`
    : 'no callbacks: pending payments are asked about every 10 s'
  return `${provider}   relays customers to ${url} (test mode; ${news})`
}

function commandsToTry(urls: Urls, demoClient: StartedCloud['demoClient'], waitSeconds: number) {
  return `\
Try it (a POSIX shell in the project's directory; paste one block after the other):

  # Create a payment by virtual account
  KEY=${demoClient.api_key}
  ID=$(curl -s ${urls.api}/v1/payments -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
    -H "Idempotency-Key: try-$(date +%s)" \\
    -d '{"method":"virtual_account","channel_code":"BCA","amount":150000,"currency":"IDR"}' \\
    | tee /dev/stderr | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')

  # Pay it, as the customer would
  ${portForPay(urls)}npm run pay -- $ID

  # Show the webhook, the payment and the balance
  sleep ${waitSeconds}; curl -s ${urls.inbox}/received
  curl -s ${urls.api}/v1/payments/$ID -H "Authorization: Bearer $KEY"
  curl -s ${urls.api}/v1/balance -H "Authorization: Bearer $KEY"
`
}

function commandsOfLaterDays(urls: Urls) {
  return `\
  # Some days later, when the provider has settled: make the fee final, sweep, and pay out as an operator
  op() { curl -s ${urls.lambda}/2015-03-31/functions/gateway-local-$1/invocations -d "$2"; echo; }
  curl -s ${urls.lambda}/_local/clock -d '{"advance_seconds":${DAYS_TO_PAYOUT * DAY_SECONDS}}'
  op sync-provider-transactions '{}'
  op sweep-settlements '{}'; sleep 2
  SETTLEMENT=$(curl -s ${urls.api}/v1/settlements -H "Authorization: Bearer $KEY" \\
    | tee /dev/stderr | grep -o '"id":"[^"]*"' | head -1 | cut -d'"' -f4)
  curl -s ${urls.lambda}/_local/clock -d '{"advance_seconds":120}'  # a payout waits for a minute
  op mark-settlement-paid "{\\"operator\\":\\"me\\",\\"settlement_id\\":\\"$SETTLEMENT\\",\\"bank_reference\\":\\"transfer-1\\"}"
  curl -s "${urls.api}/v1/balance?include=settlements" -H "Authorization: Bearer $KEY"

`
}

function awsCommand(urls: Urls) {
  return `\
  # Invoke a function with the AWS CLI version 2, as on AWS
  export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=ap-southeast-3
  aws lambda invoke --endpoint-url ${urls.lambda} --function-name gateway-local-get-payment \\
    --cli-binary-format raw-in-base64-out --payload "{\\"payment_id\\":\\"$ID\\"}" /dev/stdout
`
}

/** The command pays at PORT+2 (default 3002). With PORT=0 the API has another port than PORT. */
function portForPay({ provider }: Urls) {
  const port = Number(new URL(provider).port) - 2
  return port === DEFAULT_PORT ? '' : `PORT=${port} `
}
