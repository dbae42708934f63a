package linepay

import (
	"context"
	"errors"
	"strings"

	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
)

// The codes of the manual's appendix about the merchant.
const (
	codeNoMerchant = "1104" // no such merchant
	codeInactive   = "1105" // the merchant cannot use LINE Pay
	codeHeader     = "1106" // a header is wrong: the channel id, the signature, or the address it comes from
)

// addressRefused is a part of the message with which 1106 refuses an address that is not in the merchant centre's list:
// "Header information error. Ip address [...] is not allowed to access this API". The code alone does not tell it from a
// wrong secret.
const addressRefused = "ip address"

// TestCredentials asks LINE Pay for the details of a payment that cannot exist, with an id that no attempt has. LINE Pay
// verifies the signature before it looks, so 1150 proves the channel id and the secret. An error means that LINE Pay was
// not reached or that the response is not LINE Pay's.
func (m *Merchant) TestCredentials(ctx context.Context) (payment.CredentialReport, error) {
	_, err := m.details(ctx, payment.Attempt{ID: "test-" + m.nonce()})
	refused, ok := errors.AsType[*codeError](err)
	if !ok {
		return payment.CredentialReport{State: payment.CredentialsUnclear, Code: codeOK}, err
	}
	r := payment.CredentialReport{
		State: payment.CredentialsUnclear, Code: refused.code,
		Message: gatewayhttp.Storable(refused.message, payment.MaxCredentialMessage),
	}
	switch refused.code {
	case codeUnknown:
		r.State = payment.CredentialsAccepted
	case codeNoMerchant:
		r.State = payment.CredentialsRefused
	case codeInactive:
		r.State = payment.MerchantInactive
	case codeHeader:
		r.State = payment.CredentialsRefused
		if strings.Contains(strings.ToLower(refused.message), addressRefused) {
			r.State = payment.AddressRefused
		}
	}
	return r, nil
}
