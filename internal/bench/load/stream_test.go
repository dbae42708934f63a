package load

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"
)

// A stream counts events whatever their length, not comments, and a refusal is an error.
func TestTarget_Follow(t *testing.T) {
	next := make(chan string)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			http.Error(w, "no", http.StatusTooManyRequests)
			return
		}
		flusher := http.NewResponseController(w)
		for text := range next {
			fmt.Fprint(w, text)
			if flusher.Flush() != nil {
				return
			}
		}
	}))
	defer h.Close()
	target := testenv.Must(ParseTarget(h.URL))(t)
	events := make(chan time.Time, 8)
	go func() { next <- "retry: 2000\n\n" }()
	s := testenv.Must(target.Follow(t.Context(), target.Request(http.MethodGet, "/", ""), func(at time.Time) { events <- at }))(t)
	long := strings.Repeat("x", 3*streamBuffer)
	for _, text := range []string{"id: 1\ndata: {}\n\n", ": a heartbeat\n\n", "event: menu\ndata: " + long + "\n\n", "data: last\n\n"} {
		next <- text
	}
	for range 3 {
		<-events
	}
	close(next)
	s.Close()
	if n := len(events); n != 0 {
		t.Errorf("%d more events than were sent", n)
	}
	if _, err := target.Follow(t.Context(), target.Request(http.MethodGet, "/refused", ""), nil); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("Follow = %v, want the status 429", err)
	}
}
