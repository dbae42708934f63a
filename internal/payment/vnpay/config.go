package vnpay

import (
	"errors"
	"net"
	"net/url"
	"regexp"

	"comanda/internal/telemetry"
)

// VNPay's sandbox, which moves no money. The addresses of the real service come with the contract.
const (
	SandboxPayURL = "https://sandbox.vnpayment.vn/paymentv2/vpcpay.html"
	SandboxAPIURL = "https://sandbox.vnpayment.vn/merchant_webapi/api/transaction"
)

// Config is a merchant's contract with VNPay.
type Config struct {
	TmnCode    string           // code of the merchant's site, 8 letters and digits
	HashSecret telemetry.Secret // signs both directions
	PayURL     string           // the page for guests; empty is the sandbox
	APIURL     string           // querydr and refund; empty is the sandbox
}

var (
	siteCode  = regexp.MustCompile(`^[A-Za-z0-9]{8}$`)
	printable = regexp.MustCompile(`^[!-~]{8,256}$`)
)

// Validate tells whether the merchant could be used; it asks nobody. Its errors repeat no word of the secret.
func (c Config) Validate() error {
	if c.split() {
		return errors.New("vnpay: the page for guests and the API belong together: give both addresses, or none for the sandbox")
	}
	c = c.complete()
	switch {
	case !siteCode.MatchString(c.TmnCode):
		return errors.New("vnpay: the site code is not 8 letters and digits")
	case !printable.MatchString(string(c.HashSecret)):
		return errors.New("vnpay: the hash secret is missing, short or not one word")
	case !address(c.PayURL, false):
		return errors.New("vnpay: the page for guests is not an address such as " + SandboxPayURL)
	case !address(c.APIURL, true):
		return errors.New("vnpay: the API is not an address such as " + SandboxAPIURL)
	}
	return nil
}

// split tells whether one address would be completed with the other service's. Guests would then pay real money, while
// questions about it and refunds go to a sandbox that knows nothing of it, and nobody would be told.
func (c Config) split() bool {
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

// address tells whether s can be called. Without TLS the API is called on this machine only; guests' browsers may go to
// a simulator in the same house.
func address(s string, ours bool) bool {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && (local || !ours)
}
