"""Uses a client made by openapi-python-client: every list, a create with its replay, and a refusal."""
import os

from gateway.api.balance import get_balance, list_balance_entries
from gateway.api.deliveries import get_webhook_delivery, list_webhook_deliveries, list_webhook_endpoints
from gateway.api.events import list_events
from gateway.api.payments import create_payment, get_payment, list_payments
from gateway.api.settlements import get_settlement, list_settlement_payments, list_settlements
from gateway.client import AuthenticatedClient
from gateway.models import CreateQrisPayment, Error, Payment

client = AuthenticatedClient(base_url=os.environ["GATEWAY_URL"], token=os.environ["GATEWAY_KEY"])

asked = CreateQrisPayment(method="qris", amount=25_000, currency="IDR", external_reference="python-1")
made = create_payment.sync(client=client, body=asked, idempotency_key="python-1")
again = create_payment.sync(client=client, body=asked, idempotency_key="python-1")
assert isinstance(made, Payment) and isinstance(again, Payment) and made.id == again.id, made
assert get_payment.sync(client=client, id=made.id).status == "pending"
assert made.id in [payment.id for payment in list_payments.sync(client=client, external_reference="python-1").data]

refused = create_payment.sync_detailed(client=client, body=CreateQrisPayment(method="qris", amount=0, currency="IDR"))
assert refused.status_code == 422 and isinstance(refused.parsed, Error), refused

assert get_balance.sync(client=client, include="settlements").paid_out_minor > 0
assert list_balance_entries.sync(client=client).data and list_events.sync(client=client).data
settlement = list_settlements.sync(client=client).data[0]
assert get_settlement.sync(client=client, id=settlement.id).net_minor == settlement.net_minor
assert list_settlement_payments.sync(client=client, id=settlement.id).data
delivery = list_webhook_deliveries.sync(client=client).data[0]
assert get_webhook_delivery.sync(client=client, id=delivery.id).id == delivery.id
assert list_webhook_endpoints.sync(client=client).data
