package linepay

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"comanda/internal/fault"
	"comanda/internal/payment/gatewayhttp"
	"comanda/internal/telemetry"
)

// LINE Pay's two hosts. The sandbox moves no money.
const (
	SandboxHost    = "https://sandbox-api-pay.line.me"
	ProductionHost = "https://api-pay.line.me"
)

// Config is a merchant's contract with LINE Pay.
type Config struct {
	ChannelID     string
	ChannelSecret telemetry.Secret
	Host          string // base URL of the API; empty for the sandbox. Its path, if any, is not part of the signature
	Prefix        string // API version: /v4, also if empty, or /v3
}

// printable is one word of visible ASCII. A space or line feed that was copied along would break a header, or make
// every signature wrong.
var printable = regexp.MustCompile(`^[!-~]{1,100}$`)

// Validate checks the configuration without calling LINE Pay. Its errors never contain the secret.
func (c Config) Validate() error {
	c = c.complete()
	switch {
	case !printable.MatchString(c.ChannelID):
		return fault.InField("linepay_channel_id", "one_word", errors.New("linepay: the channel id is missing or is not one word"))
	case !printable.MatchString(string(c.ChannelSecret)):
		return fault.InField("linepay_channel_secret", "one_word",
			errors.New("linepay: the channel secret is missing or is not one word"))
	// The path of each request would begin with two slashes, and the signed one with one.
	case strings.HasSuffix(c.Host, "/"):
		return fault.InField("linepay_url", "end_slash", errors.New("linepay: the host ends with a slash"))
	case c.Prefix != "/v4" && c.Prefix != "/v3":
		return fault.InField("linepay_prefix", "api_version", errors.New("linepay: the prefix is neither /v4 nor /v3"))
	}
	if err := gatewayhttp.CheckURL(c.Host); err != nil {
		return fault.InField("linepay_url", "no_url",
			fmt.Errorf("linepay: the host is not an address such as %s: %w", SandboxHost, err))
	}
	return nil
}

// complete fills in the defaults. A host that was forgotten is the sandbox's, so no money moves.
func (c Config) complete() Config {
	if c.Host == "" {
		c.Host = SandboxHost
	}
	if c.Prefix == "" {
		c.Prefix = "/v4"
	}
	return c
}
