package authzhttp_test

import (
	"bufio"
	"context"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/authz/authzsql"
	"comanda/internal/httpapi"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// BenchmarkAuthenticator_http alternates requests of a public route and of one that requires a permission. check-µs is
// the additional CPU time of the second, of client and server together; the target is 5. idle-µs is the same between
// two public routes, which is the error of the measurement.
func BenchmarkAuthenticator_http(b *testing.B) {
	addr, access := listen(b)
	conn := testenv.Must(net.Dial("tcp", addr))(b)
	defer conn.Close()
	in := bufio.NewReader(conn)
	const batch = 200
	var spent [3]time.Duration
	requests := [3][]byte{}
	for i, path := range []string{"/open/again", "/open/orders", "/api/orders"} {
		requests[i] = []byte("GET " + path + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + access + "\r\n\r\n")
	}
	for b.Loop() {
		for i, r := range requests {
			before := cpuTime()
			for range batch {
				ask(b, conn, in, r)
			}
			spent[i] += cpuTime() - before
		}
	}
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(b.N*batch) }
	b.ReportMetric(each(spent[1]), "open-µs/req")
	b.ReportMetric(each(spent[2]-spent[1]), "check-µs")
	b.ReportMetric(each(spent[1]-spent[0]), "idle-µs")
}

func ask(b *testing.B, conn net.Conn, in *bufio.Reader, request []byte) {
	b.Helper()
	testenv.Must(conn.Write(request))(b)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != http.StatusNoContent {
		b.Fatal(res, err)
	}
	_ = res.Body.Close() // the response has no body
}

// cpuTime returns the CPU time of the process, which other processes do not influence as they do the wall clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// listen starts a server with authentication and returns the access token of a cashier.
func listen(b *testing.B) (addr, access string) {
	b.Helper()
	c := httpapi.Default()
	c.Listen = "127.0.0.1:0"
	s := testenv.Must(httpapi.New(c, slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(b)
	nothing := func(context.Context, *struct{}) (*struct{}, error) { return nil, nil }
	for path, policy := range map[string]httpapi.Policy{
		"/open/again": httpapi.Public, "/open/orders": httpapi.Public, "/api/orders": httpapi.Staff,
	} {
		httpapi.RegisterOutput(s.API().Operations("Orders", policy), path, "GET "+path, "Nothing", nothing)
	}
	db := sqldbtest.SQLite(b)
	h := accounttest.Open(b, db, accounttest.NewSessionCache())
	routes := s.API().Routes()
	testenv.NoError(b, authzsql.SyncPermissions(b.Context(), db, authzhttp.Permissions(routes), h.Clock.Now()))
	rights := authz.NewAuthorizer(authzsql.NewRoles(db), h.Clock.Now, authzhttp.Places(routes))
	testenv.NoError(b, rights.Refresh(b.Context()))
	h.CreateStaff(b, "cashier@example.com", authz.RoleCashier)
	s.SetAuthenticator(authzhttp.Authenticator{Tokens: h.Authenticator, Routes: rights})
	testenv.NoError(b, s.Start(b.Context()))
	b.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return s.Addr().String(), h.MustLogin(b, "cashier@example.com").Access
}
