package app

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
)

// Some settings are only for trials: play money, simulated gateways, the demo's accounts, disabled limits, short
// tokens. Whether they are allowed depends on which machines can reach the server.

// local reports whether only this machine reaches the server: both the listen address and the public URL are loopback.
// A listen address without a host, such as :8080, is on every network.
func (c Config) local() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	return err == nil && loopback(host) && loopback(c.publicHost())
}

// publicHost returns the host of the public URL, empty for an invalid one, which then counts as public.
func (c Config) publicHost() string {
	u, err := url.Parse(c.PublicURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// loopback accepts the name localhost without resolving it, and no other name.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// inPrivate reports whether a host is an address of this machine or of a private network: RFC 1918, RFC 4193,
// link-local. Names are not, because they may resolve to any address.
func inPrivate(host string) bool {
	ip, err := netip.ParseAddr(host)
	return loopback(host) || err == nil && (ip.Unmap().IsPrivate() || ip.IsLinkLocalUnicast())
}

// validateReach refuses settings for trials if strangers could reach the server.
func (c Config) validateReach() error {
	if c.DemoLAN {
		host, _, err := net.SplitHostPort(c.Listen)
		if err != nil || !inPrivate(host) || !inPrivate(c.publicHost()) {
			return errors.New("COMANDA_DEMO_LAN=on needs COMANDA_LISTEN and COMANDA_PUBLIC_URL with an address " +
				"of a private network, such as 192.168.1.20:8080")
		}
	}
	if c.local() {
		return nil
	}
	const onlyLoopback = "is refused where the listen address or the public URL is not loopback"
	if !c.Limits {
		return errors.New("COMANDA_LIMITS=off " + onlyLoopback)
	}
	if n := len(c.ServiceToken); n > 0 && n < minToken {
		return fmt.Errorf("COMANDA_SERVICE_TOKEN with less than %d characters %s", minToken, onlyLoopback)
	}
	for _, toy := range []struct {
		name string
		on   bool
	}{
		{"COMANDA_SANDBOX_PAYMENTS", c.SandboxPayments}, {"COMANDA_SIMULATORS", c.Simulators}, {"--demo", c.demo},
		{"COMANDA_PUSH_LOCAL", c.PushLocal},
	} {
		if toy.on && !c.DemoLAN {
			return fmt.Errorf("%s %s; COMANDA_DEMO_LAN=on permits it in a private network", toy.name, onlyLoopback)
		}
	}
	return nil
}

// WithDemo returns the configuration of a server with the demo restaurant, whose accounts share a printed password.
func (c Config) WithDemo() (Config, error) {
	c.demo = true
	if err := c.validateReach(); err != nil {
		return c, fmt.Errorf("configuration: %w", err)
	}
	return c, nil
}
