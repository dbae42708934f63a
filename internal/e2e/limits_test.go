package e2e

import (
	"net/http"
	"strconv"
	"testing"
)

// A full dining room scans and orders from one address at human speed without a refusal. A phone that orders endlessly
// and a machine that guesses codes are limited.
func TestLimits(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, limited)
		room := make([]answer, 40)
		inParallel(len(room), func(i int) {
			g, landed := s.scan(i)
			if room[i] = landed; landed.status == http.StatusOK {
				room[i] = g.place(g.request(line{ItemID: phoGa, Qty: 1}))
			}
		})
		for _, a := range room {
			if a.status != http.StatusCreated {
				t.Errorf("a guest in the dining room is answered %v", a)
			}
		}

		busy := s.guest(1)
		refused := 0
		for range 5 {
			a := busy.place(busy.request(line{ItemID: phoGa, Qty: 1}))
			if a.status != http.StatusTooManyRequests {
				continue
			}
			refused++
			a.want(t, http.StatusTooManyRequests, "rate_limited")
			if n, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || n < 1 || n > 3 {
				t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
			}
		}
		if refused == 0 || refused > 2 {
			t.Errorf("%d of 5 orders in a row are refused", refused)
		}

		guessed := 0
		for range 25 {
			a := s.send(http.MethodGet, "/cis/landing?qr=0123456789012345678901234567890123456789012", nil)
			if a.status == http.StatusTooManyRequests {
				guessed++
			}
		}
		if guessed < 3 {
			t.Errorf("%d of 25 guesses are refused", guessed)
		}
	}, embedded, servers)
}
