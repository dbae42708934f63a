package linepay

import (
	"errors"
	"net"
	"net/url"
	"regexp"
	"strings"

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

var printable = regexp.MustCompile(`^[!-~]{1,100}$`)

// Validate checks the configuration without calling LINE Pay. Its errors never contain the secret.
func (c Config) Validate() error {
	c = c.complete()
	u, err := url.Parse(c.Host)
	switch {
	case !printable.MatchString(c.ChannelID):
		return errors.New("linepay: the channel id is missing or is not one word")
	case !printable.MatchString(string(c.ChannelSecret)):
		return errors.New("linepay: the channel secret is missing or is not one word")
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(u.Path, "/"):
		return errors.New("linepay: the host is not an address such as " + SandboxHost)
	case u.Scheme != "https" && (u.Scheme != "http" || !local(u.Hostname())):
		return errors.New("linepay: the host must be https, unless it is on this machine")
	case c.Prefix != "/v4" && c.Prefix != "/v3":
		return errors.New("linepay: the prefix is neither /v4 nor /v3")
	}
	return nil
}

func (c Config) complete() Config {
	if c.Host == "" {
		c.Host = SandboxHost
	}
	if c.Prefix == "" {
		c.Prefix = "/v4"
	}
	return c
}

func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
