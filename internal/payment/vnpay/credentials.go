package vnpay

import (
	"context"
	"errors"

	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
	"comanda/internal/uid"
)

// TestCredentials asks VNPay about a payment that cannot exist, with an id that was never used. That VNPay does not have
// it (91), in a signed response, proves the site code and the secret, for queries and for notices alike. An error means
// that VNPay was not reached or that the response is not VNPay's.
//
// A refusal (02, 97) needs no valid signature and may name another site code: with a wrong secret or site code it cannot
// be otherwise, and a forged refusal only sends its reader to look at the credentials again.
func (m *Merchant) TestCredentials(ctx context.Context) (payment.CredentialReport, error) {
	now := m.now()
	answer, _, err := m.query(ctx, payment.Attempt{ID: uid.New(now), CreatedAt: now})
	if unsigned, ok := errors.AsType[*signatureError](err); ok {
		answer = unsigned.answer
	}
	if err != nil && !refusesCredentials(answer) {
		return payment.CredentialReport{}, err
	}
	r := payment.CredentialReport{
		State: payment.CredentialsUnclear, Code: gatewayhttp.Storable(answer.get("ResponseCode"), maxCode),
		Message: gatewayhttp.Storable(answer.get("Message"), payment.MaxCredentialMessage),
	}
	switch {
	case r.Code == "91":
		r.State = payment.CredentialsAccepted
	case refusesCredentials(answer):
		r.State = payment.CredentialsRefused
	}
	return r, nil
}

const maxCode = 8 // bytes of a code; VNPay's have two

// refusesCredentials reports whether a response says that the site code is unknown (02) or the signature wrong (97).
func refusesCredentials(answer message) bool {
	code := answer.get("ResponseCode")
	return code == "02" || code == "97"
}
