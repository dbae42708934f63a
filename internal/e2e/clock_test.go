package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// shiftable is a binary like the one under test, whose wall clock a file shifts.
func (l *lasting) shiftable(t testing.TB) string {
	t.Helper()
	return l.faultclock.get(func() string {
		path := binary + "-faultclock"
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags=faultclock", "-o", path, "comanda/cmd/comanda")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return path
	})
}

// steps is how often a server has seen a clock set.
func (s *site) steps(v *server, clock, direction string) int {
	return s.figureOf(v, fmt.Sprintf(`clock_steps_total{clock="%s",direction="%s"}`, clock, direction))
}

// The wall clock of one of two processes is set, forward and back. Both go on taking orders, with the right deadlines, and
// each order ends when its window is over: not before, and not later than promised (I10).
func TestClock_is_set(t *testing.T) {
	on(t, func(t *testing.T, k kind) {
		const window, grace = 3 * time.Second, time.Second
		s := prepare(t, k, shortWindow(window, grace))
		shift := filepath.Join(t.TempDir(), "shift")
		set := s.first()
		set.binary, set.env["FAULTCLOCK_FILE"] = atEnd.shiftable(t), shift
		s.begin()
		g := s.guest(0)

		var orders []order
		place := func() {
			for range s.servers { // they take turns
				begun := time.Now()
				o := g.insist(g.wish(line{ItemID: phoGa, Qty: 1}), 4*time.Second).want(t, http.StatusCreated, "").order(t)
				if earliest := begun.Add(window - clockSlack); o.PayBy.Before(earliest) || o.PayBy.After(time.Now().Add(window+clockSlack)) {
					t.Errorf("an order of %v is to be paid by %v", begun, o.PayBy)
				}
				orders = append(orders, o)
			}
		}
		place()
		for n, by := range []string{"+1h", "-1h"} {
			if err := os.WriteFile(shift, []byte(by), 0o600); err != nil {
				t.Fatal(err)
			}
			place()
			s.await(4*time.Second, func() error {
				if seen := s.steps(set, "machine", "any"); seen != n+1 || s.figureOf(set, "clock_settled") != 1 {
					return fmt.Errorf("%d steps were seen after %d", seen, n+1)
				}
				return nil
			})
			place()
		}

		open := orders
		s.await(window+grace+expiryLag, func() error {
			left := open[:0]
			for _, o := range open {
				ended := g.get(o.ID).order(t).Status == "CANCELED"
				switch now := time.Now(); {
				case ended && now.Add(clockSlack).Before(o.PayBy.Add(grace)):
					t.Errorf("an order to be paid by %v has ended by %v", o.PayBy, now)
				case !ended && now.After(o.PayBy.Add(grace+expiryLag)):
					t.Errorf("an order to be paid by %v stands at %v", o.PayBy, now)
				case !ended:
					left = append(left, o)
				}
			}
			if open = left; len(open) > 0 {
				return fmt.Errorf("%d orders stand", len(open))
			}
			return nil
		})
		for _, v := range s.servers {
			if f, b := s.steps(v, "deciding", "forward"), s.steps(v, "deciding", "back"); f != 0 || b != 0 {
				t.Errorf("PostgreSQL's clock is taken for set, %d times forward and %d times back", f, b)
			}
		}
		s.agrees()
	}, pair)
}

// No file shifts the clock of the binary that is released.
func TestClock_of_a_release(t *testing.T) {
	on(t, func(t *testing.T, k kind) {
		for path, want := range map[string]bool{binary: false, atEnd.shiftable(t): true} {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"COMANDA_FAULTCLOCK_FILE", "internal/clock/faultclock"} {
				if bytes.Contains(text, []byte(word)) != want {
					t.Errorf("%s contains %s: %t, want %t", filepath.Base(path), word, !want, want)
				}
			}
		}
		s := prepare(t, k, settings{"FAULTCLOCK_FILE": "shift"})
		if r := s.run("serve"); r.code == 0 || !strings.Contains(r.err, "COMANDA_FAULTCLOCK_FILE is not a setting") {
			t.Errorf("exit code %d: %s", r.code, r.err)
		}
	}, embedded)
}
