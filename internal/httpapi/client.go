package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ParseProxies reads the addresses and networks of proxies, with commas between them: 10.0.0.7, 2001:db8::/48.
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

// clientOf tells where a request comes from: from whoever has connected, unless that is a trusted proxy. Then
// X-Forwarded-For is read from the right, each proxy having added whom it was called by, up to the first address that is
// not trusted: what stands further left anybody could have written.
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
			if !next.IsValid() { // a proxy of ours writes no such thing: it is the last that can be believed
				return at
			}
			if at = next; !oneOf(trusted, at) {
				return at
			}
		}
	}
	return at
}

// addressIn reads an address with or without a port; the zero Addr when it is none.
func addressIn(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	a, _ := netip.ParseAddr(strings.Trim(s, "[]"))
	return a.Unmap().WithZone("")
}

func oneOf(nets []netip.Prefix, a netip.Addr) bool {
	for _, n := range nets {
		if n.Contains(a) {
			return true
		}
	}
	return false
}

// networkOf is what counts as one client: the address, of IPv6 its /64, of which everybody has a whole one.
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

// ClientAddress is the address that a request comes from, "" outside of one; a trusted proxy is seen through.
func ClientAddress(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil && x.client.IsValid() {
		return x.client.String()
	}
	return ""
}

// ClientNetwork is what limits count as one client: its address, of IPv6 its /64; "unknown" outside of a request.
func ClientNetwork(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil {
		return networkOf(x.client)
	}
	return networkOf(netip.Addr{})
}
