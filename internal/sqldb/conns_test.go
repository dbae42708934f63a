package sqldb

import (
	"testing"

	"comanda/internal/testenv"
)

// pool_max_conns in the address is the operator's limit. It applies unless the program sets its own.
func TestOpenPostgres_MaxConns(t *testing.T) {
	for _, c := range []struct {
		url  string
		max  int
		want int32
	}{
		{url: "postgres://127.0.0.1:1/x", want: defaultConns},
		{url: "postgres://127.0.0.1:1/x?pool_max_conns=5", want: 5},
		{url: "postgres://127.0.0.1:1/x?sslmode=disable&pool_max_conns=40", want: 40},
		{url: "postgres://127.0.0.1:1/x?pool_max_conns=5", max: 2, want: 2},
	} {
		p := testenv.Must(openPostgres(t.Context(), Config{URL: c.url, MaxConns: c.max}))(t)
		if got := p.pool.Config().MaxConns; got != c.want {
			t.Errorf("%s with %d: %d connections, want %d", c.url, c.max, got, c.want)
		}
		p.pool.Close()
	}
}

func TestLimitsTransactions(t *testing.T) {
	for version, want := range map[string]bool{
		"15.19 (Debian 15.19-0+deb12u1)": false, "16.4": false, "17.0": true, "17.2 (Ubuntu 17.2-1)": true, "18beta1": true, "18": true,
		"": false, "devel": false, "9.6.24": false,
	} {
		if got := limitsTransactions(version); got != want {
			t.Errorf("limitsTransactions(%q) = %t, want %t", version, got, want)
		}
	}
}
