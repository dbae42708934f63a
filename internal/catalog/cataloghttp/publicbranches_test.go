package cataloghttp

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/testenv"
)

// branchServer is a server with only the public branch list.
func branchServer(t *testing.T, s *store) *site {
	t.Helper()
	conf := httpapi.Default()
	conf.AccessLog = false
	server := testenv.Must(httpapi.New(conf, slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	RegisterPublicBranches(server.API(), s, func() time.Time { return lunch })
	return &site{Handler: server}
}

var lunch = time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)

// A paused branch is not open until the pause ends.
func TestPublicBranches(t *testing.T) {
	for open, pause := range map[string]*catalog.Pause{
		"true":   nil,
		"false":  {Code: "BUSY"},
		"false ": {Code: "BUSY", Until: lunch.Add(time.Second)},
		"true ":  {Code: "BUSY", Until: lunch},
	} {
		w := branchServer(t, &store{pause: pause}).ask(t, http.MethodGet, "/branches", "")
		want := `{"items":[{"id":"1","name":"` + catalogtest.Branch().Name + `","currency":"VND","timezone":"Asia/Ho_Chi_Minh",` +
			`"locales":["vi","en"],"isOpen":` + strings.TrimSpace(open) + `,"opensAt":null}],"total":1}`
		if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != want {
			t.Errorf("paused by %+v: %d %s", pause, w.Code, got)
		}
	}
}

func TestPublicBranches_sql_is_away(t *testing.T) {
	s := &store{err: fault.New(fault.Unavailable, "unavailable", "Please try again.")}
	wantStatus(t, branchServer(t, s).ask(t, http.MethodGet, "/branches", ""), http.StatusServiceUnavailable, "unavailable")
}
