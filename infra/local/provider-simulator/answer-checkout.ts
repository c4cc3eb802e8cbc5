import type { LocalReply, LocalRequest } from '../process/local-http-server.ts'
import { ProviderError } from './provider-error.ts'
import { isOpen, type PaymentRequest } from './provider-objects.ts'
import type { SimulatorCore } from './simulator-core.ts'

/**
 * The wallet's checkout page. `GET /checkout/{id}` shows it. `POST` to this path pays, then
 * redirects to the shop.
 */
export function answerCheckout(core: SimulatorCore, request: LocalRequest): LocalReply {
  const id = request.path.slice('/checkout/'.length)
  try {
    const paymentRequest = core.getPaymentRequest(id)
    if (request.method === 'GET') return page(200, checkoutHtml(paymentRequest))
    if (request.method !== 'POST') return page(405, '<p>This page accepts only GET and POST.</p>')
    core.simulatePayment(id)
    const location = paymentRequest.channel_properties['success_return_url'] ?? request.path
    return { status: 303, headers: { location }, body: '' }
  } catch (error) {
    if (error instanceof ProviderError)
      return page(error.status, `<p>${escapeHtml(error.message)}</p>`)
    throw error
  }
}

function page(status: number, content: string): LocalReply {
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
    },
    body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Simulated checkout</title></head><body><h1>Simulated checkout</h1>${content}</body></html>`,
  }
}

function checkoutHtml(request: PaymentRequest) {
  const amount = request.request_amount.toLocaleString('id-ID')
  const summary = `${escapeHtml(request.channel_code)}: Rp ${amount} for ${escapeHtml(request.reference_id)}`
  const form = isOpen(request)
    ? '<form method="post"><button type="submit">Pay</button></form>'
    : `<p>This payment is ${escapeHtml(request.status)}.</p>`
  return `<p>${summary}</p>${form}`
}

function escapeHtml(text: string) {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
