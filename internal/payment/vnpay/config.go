package vnpay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"

	"comanda/internal/fault"
	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
	"comanda/internal/telemetry"
	"comanda/internal/uid"
)

// VNPay's sandbox, which moves no money. The URLs of the real service come with the contract.
const (
	SandboxPayURL = "https://sandbox.vnpayment.vn/paymentv2/vpcpay.html"
	SandboxAPIURL = "https://sandbox.vnpayment.vn/merchant_webapi/api/transaction"
)

// Config is a merchant's contract with VNPay. The secret is the same for the payment page, notices and the API.
type Config struct {
	TmnCode    string           // the merchant's site code, 8 letters and digits
	HashSecret telemetry.Secret // signs requests and responses
	PayURL     string           // the payment page; empty for the sandbox
	APIURL     string           // querydr and refund; empty for the sandbox
}

var (
	siteCode  = regexp.MustCompile(`^[A-Za-z0-9]{8}$`)
	printable = regexp.MustCompile(`^[!-~]{8,256}$`)
)

// Validate checks the configuration without calling VNPay. Its errors never contain the secret.
func (c Config) Validate() error {
	if c.mixed() {
		return fault.InField(c.missingURL(), "both_urls",
			errors.New("must be set together with VNPay's other URL; without both, its sandbox is used"))
	}
	c = c.complete()
	switch {
	case !siteCode.MatchString(c.TmnCode):
		return fault.InField("vnpay_tmn_code", "site_code", errors.New("must have 8 letters and digits"))
	case !printable.MatchString(string(c.HashSecret)):
		return fault.InField("vnpay_hash_secret", "hash_secret",
			errors.New("must have 8 to 256 characters and no space"))
	}
	if err := gatewayhttp.CheckPage(c.PayURL); err != nil {
		return fault.InField("vnpay_pay_url", gatewayhttp.FieldCode(err),
			fmt.Errorf("must be a URL such as %s: %w", SandboxPayURL, err))
	}
	if err := gatewayhttp.CheckURL(c.APIURL); err != nil {
		return fault.InField("vnpay_api_url", gatewayhttp.FieldCode(err),
			fmt.Errorf("must be a URL such as %s: %w", SandboxAPIURL, err))
	}
	return nil
}

// mixed reports whether one URL is set and the other one would default to the sandbox. Guests would then pay real
// money, while queries and refunds go to a sandbox that lacks these payments.
func (c Config) mixed() bool {
	if c.PayURL == "" {
		return c.APIURL != "" && c.APIURL != SandboxAPIURL
	}
	return c.APIURL == "" && c.PayURL != SandboxPayURL
}

// missingURL returns the setting of the URL that is not set.
func (c Config) missingURL() string {
	if c.PayURL == "" {
		return "vnpay_pay_url"
	}
	return "vnpay_api_url"
}

// complete sets missing URLs to those of the sandbox. Validate has refused a configuration with only one URL.
func (c Config) complete() Config {
	c.PayURL, c.APIURL = cmp.Or(c.PayURL, SandboxPayURL), cmp.Or(c.APIURL, SandboxAPIURL)
	return c
}

// TestCredentials queries a payment that cannot exist, with an id that was never used. A signed response that VNPay
// does not have the payment (91) proves the site code and the secret, for queries and for notices alike. An error
// means that VNPay was not reached or that the response is not VNPay's.
//
// A refusal (02, 97) needs no valid signature and may name another site code, which a wrong secret or site code makes
// inevitable. A forged refusal does no harm: it only makes the owner check the credentials again.
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
