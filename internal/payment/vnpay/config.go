package vnpay

import (
	"errors"
	"net"
	"net/url"
	"regexp"

	"comanda/internal/telemetry"
)

// VNPay's sandbox, which moves no money. The URLs of the real service come with the contract.
const (
	SandboxPayURL = "https://sandbox.vnpayment.vn/paymentv2/vpcpay.html"
	SandboxAPIURL = "https://sandbox.vnpayment.vn/merchant_webapi/api/transaction"
)

// Config is a merchant's contract with VNPay.
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
		return errors.New("vnpay: set the URLs of both the payment page and the API, or neither for the sandbox")
	}
	c = c.complete()
	switch {
	case !siteCode.MatchString(c.TmnCode):
		return errors.New("vnpay: the site code is not 8 letters and digits")
	case !printable.MatchString(string(c.HashSecret)):
		return errors.New("vnpay: the hash secret is missing, too short or contains a space")
	case !validURL(c.PayURL, false):
		return errors.New("vnpay: the payment page is not a URL such as " + SandboxPayURL)
	case !validURL(c.APIURL, true):
		return errors.New("vnpay: the API is not a URL such as " + SandboxAPIURL)
	}
	return nil
}

// mixed reports whether one URL is set and the other would default to the sandbox. Guests would then pay real money,
// while queries and refunds go to a sandbox without these payments.
func (c Config) mixed() bool {
	if c.PayURL == "" {
		return c.APIURL != "" && c.APIURL != SandboxAPIURL
	}
	return c.APIURL == "" && c.PayURL != SandboxPayURL
}

func (c Config) complete() Config {
	if c.PayURL == "" {
		c.PayURL = SandboxPayURL
	}
	if c.APIURL == "" {
		c.APIURL = SandboxAPIURL
	}
	return c
}

// validURL reports whether s is a URL that can be called. Without TLS the API must be on this machine; the payment
// page, which only browsers call, may be a simulator elsewhere in the local network.
func validURL(s string, api bool) bool {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && (local || !api)
}
