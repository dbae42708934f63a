package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ParseProxies parses a comma-separated list of proxy addresses and networks: 10.0.0.7, 2001:db8::/48.
func ParseProxies(list string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		p, err := netip.ParsePrefix(item)
		if err != nil {
			a, single := netip.ParseAddr(item)
			if single != nil {
				return nil, fmt.Errorf("httpapi: %q is neither an address nor a network", item)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

// clientOf returns the client address of a request: that of the connection, unless it is a trusted proxy. Then it reads
// X-Forwarded-For from the right, where each proxy has appended its client, up to the first untrusted address. Entries
// further left may be forged by the client.
func clientOf(r *http.Request, trusted []netip.Prefix) netip.Addr {
	at := addressIn(r.RemoteAddr)
	if !oneOf(trusted, at) {
		return at
	}
	for _, line := range slices.Backward(r.Header["X-Forwarded-For"]) {
		for line != "" {
			var hop string
			if comma := strings.LastIndexByte(line, ','); comma >= 0 {
				line, hop = line[:comma], line[comma+1:]
			} else {
				line, hop = "", line
			}
			next := addressIn(strings.TrimSpace(hop))
			if !next.IsValid() { // trusted proxies write only addresses: the last valid one is the client
				return at
			}
			if at = next; !oneOf(trusted, at) {
				return at
			}
		}
	}
	return at
}

// addressIn parses an address with or without a port; it returns the zero Addr if s is invalid.
func addressIn(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		// An IPv4 address may arrive in IPv6 form. It must match IPv4 networks and share one rate limit with its other form.
		return ap.Addr().Unmap().WithZone("")
	}
	a, _ := netip.ParseAddr(strings.Trim(s, "[]"))
	return a.Unmap().WithZone("")
}

// oneOf reports whether a network contains the address. The invalid address is in none, so it is never trusted.
func oneOf(nets []netip.Prefix, a netip.Addr) bool {
	for _, n := range nets {
		if n.Contains(a) {
			return true
		}
	}
	return false
}

// networkOf returns the network that counts as one client: an IPv4 address, or the /64 of an IPv6 address, since one
// client usually has a whole /64.
func networkOf(a netip.Addr) string {
	switch {
	case !a.IsValid():
		return "unknown"
	case a.Is4():
		return a.String()
	}
	p, err := a.Prefix(64)
	if err != nil {
		return a.String()
	}
	return p.Addr().String()
}

// ClientAddress returns the client address of a request, behind trusted proxies; "" outside of a request.
func ClientAddress(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil && x.client.IsValid() {
		return x.client.String()
	}
	return ""
}

// ClientNetwork returns the network that rate limits count as one client: an IPv4 address or an IPv6 /64; "unknown"
// outside of a request.
func ClientNetwork(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil {
		return networkOf(x.client)
	}
	return networkOf(netip.Addr{})
}
