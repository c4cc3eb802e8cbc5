// Uses a client made by oapi-codegen: a create with its replay, a refusal, and lists.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
)

func check(holds bool, what string) {
	if !holds {
		log.Fatal(what)
	}
}

func main() {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("GATEWAY_KEY"))
		return nil
	}
	client, err := NewClientWithResponses(os.Getenv("GATEWAY_URL"), WithRequestEditorFn(authorize))
	check(err == nil, "no client")
	ctx := context.Background()

	create := func(key string, amount int) *CreatePaymentResponse {
		var body CreatePayment
		qris := CreateQrisPayment{Method: "qris", Amount: amount, Currency: "IDR"}
		check(body.FromCreateQrisPayment(qris) == nil, "no body")
		answer, err := client.CreatePaymentWithResponse(ctx, &CreatePaymentParams{IdempotencyKey: &key}, body)
		check(err == nil, "no answer")
		return answer
	}
	made, again := create("go-1", 25_000), create("go-1", 25_000)
	check(made.JSON201 != nil && again.JSON200 != nil && made.JSON201.Id == again.JSON200.Id, string(made.Body))
	read, err := client.GetPaymentWithResponse(ctx, made.JSON201.Id.String())
	check(err == nil && read.JSON200 != nil && read.JSON200.Status == "pending", "not pending")
	refused := create("go-2", 0)
	check(refused.JSON422 != nil && refused.JSON422.Code == "validation", string(refused.Body))

	payments, err := client.ListPaymentsWithResponse(ctx, &ListPaymentsParams{})
	check(err == nil && payments.JSON200 != nil && len(payments.JSON200.Data) > 0, "no payments")
	events, err := client.ListEventsWithResponse(ctx, &ListEventsParams{})
	check(err == nil && events.JSON200 != nil && len(events.JSON200.Data) > 0, "no events")
	settlements, err := client.ListSettlementsWithResponse(ctx, &ListSettlementsParams{})
	check(err == nil && settlements.JSON200 != nil && len(settlements.JSON200.Data) > 0, "no settlements")
}
