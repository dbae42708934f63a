package httpapi

import (
	"net/http"
	"testing"

	"comanda/internal/testenv"
)

func TestClientOf(t *testing.T) {
	trusted := testenv.Must(ParseProxies("10.0.0.0/8, 192.0.2.1,2001:db8:1::/48"))(t)
	for name, c := range map[string]struct {
		remote    string
		forwarded []string
		want      string
	}{
		"no proxy":                  {"203.0.113.5:4711", nil, "203.0.113.5"},
		"a stranger may not say":    {"203.0.113.5:4711", []string{"198.51.100.1"}, "203.0.113.5"},
		"a proxy says":              {"10.1.2.3:80", []string{"198.51.100.1"}, "198.51.100.1"},
		"from the right":            {"10.1.2.3:80", []string{"1.2.3.4, 198.51.100.1"}, "198.51.100.1"},
		"through several":           {"10.1.2.3:80", []string{"1.2.3.4, 198.51.100.1, 192.0.2.1", "10.9.9.9"}, "198.51.100.1"},
		"in two lines":              {"10.1.2.3:80", []string{"1.2.3.4", "198.51.100.1"}, "198.51.100.1"},
		"all are proxies":           {"10.1.2.3:80", []string{"10.0.0.2,10.0.0.1"}, "10.0.0.2"},
		"says nothing":              {"10.1.2.3:80", nil, "10.1.2.3"},
		"says nonsense":             {"10.1.2.3:80", []string{"1.2.3.4, unknown"}, "10.1.2.3"},
		"nonsense after a proxy":    {"10.1.2.3:80", []string{"<script>, 192.0.2.1"}, "192.0.2.1"},
		"an empty item":             {"10.1.2.3:80", []string{"1.2.3.4,"}, "10.1.2.3"},
		"with a port":               {"10.1.2.3:80", []string{"198.51.100.1:99"}, "198.51.100.1"},
		"v6 with a port":            {"[2001:db8:1::7]:80", []string{"[2001:db8:2::1]:99"}, "2001:db8:2::1"},
		"v6 in brackets":            {"10.1.2.3:80", []string{"[2001:db8:2::1]"}, "2001:db8:2::1"},
		"v4 in v6":                  {"[::ffff:10.1.2.3]:80", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		"no address at all":         {"@", nil, "invalid IP"},
		"a proxy's zone is nothing": {"[fe80::1%eth0]:80", nil, "fe80::1"},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := clientOf(r, trusted).String(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestNetworkOf(t *testing.T) {
	for address, want := range map[string]string{
		"203.0.113.5:1": "203.0.113.5", "[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1:2::", "[::ffff:203.0.113.5]:1": "203.0.113.5",
		"@": "unknown",
	} {
		if got := networkOf(addressIn(address)); got != want {
			t.Errorf("%s counts as %s, want %s", address, got, want)
		}
	}
}

func TestParseProxies_refuses(t *testing.T) {
	for _, bad := range []string{"proxy.example", "10.0.0.0/33", "10.0.0.1-10.0.0.9", "10.0.0.1:80"} {
		if _, err := ParseProxies(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if p, err := ParseProxies(" "); err != nil || p != nil {
		t.Errorf("nothing is %v, %v", p, err)
	}
}

func FuzzClientOf(f *testing.F) {
	f.Add("10.1.2.3:80", "1.2.3.4, 10.0.0.1")
	f.Add("[::1]:80", ",,,")
	trusted := testenv.Must(ParseProxies("10.0.0.0/8,::/0"))(f)
	f.Fuzz(func(_ *testing.T, remote, forwarded string) {
		networkOf(clientOf(&http.Request{RemoteAddr: remote, Header: http.Header{"X-Forwarded-For": {forwarded}}}, trusted))
	})
}
