package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"
)

// shiftable returns a binary like the one under test, whose wall clock a file shifts.
func (l *sharedResources) shiftable(t testing.TB) string {
	t.Helper()
	return l.faultclock.get(func() string { return l.tagged(t, "faultclock", "faultclock,fasthash") })
}

// steps returns how many steps of a clock a server has detected.
func (s *installation) steps(v *server, clock, direction string) int {
	return s.metricOf(v, fmt.Sprintf(`clock_steps_total{clock="%s",direction="%s"}`, clock, direction))
}

// The wall clock of one of two processes is set forward and back. Both continue to take orders, with the right
// deadlines, and each order expires when its window is over: not before, and not later than promised (I10).
func TestClock_is_set(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		const window, grace = 3 * time.Second, time.Second
		s := prepare(t, k, shortWindow(window, grace))
		shift := filepath.Join(t.TempDir(), "shift")
		set := s.first()
		set.binary, set.env["FAULTCLOCK_FILE"] = shared.shiftable(t), shift
		s.startDemo()
		g := s.guest(0)

		var orders []order
		place := func() {
			for range s.servers { // requests alternate between the servers
				begun := time.Now()
				o := g.retry(g.request(line{ItemID: phoGa, Qty: 1}), 4*time.Second).want(t, http.StatusCreated, "").order(t)
				if earliest := begun.Add(window - clockSlack); o.PayBy.Before(earliest) || o.PayBy.After(time.Now().Add(window+clockSlack)) {
					t.Errorf("an order of %v is to be paid by %v", begun, o.PayBy)
				}
				orders = append(orders, o)
			}
		}
		place()
		for n, by := range []string{"+1h", "-1h"} {
			testenv.NoError(t, os.WriteFile(shift, []byte(by), 0o600))
			place()
			s.await(4*time.Second, func() error {
				if seen := s.steps(set, "machine", "any"); seen != n+1 || s.metricOf(set, "clock_settled") != 1 {
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
		s.awaitConsistent()
	}, pair)
}

// The clock of a machine that runs everything is set while guests order. Nothing ends early or late, open orders can be
// paid at their gateway, and all checks are clean within the promised time.
func TestClock_of_SQLite_is_set(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		const window, grace = 30 * time.Second, time.Second
		extra := shortWindow(window, grace)
		maps.Copy(extra, simulated)
		s := prepare(t, k, extra)
		shift := filepath.Join(t.TempDir(), "shift")
		v := s.first()
		s.env["FAULTCLOCK_FILE"] = shift
		v.binary, s.binary = shared.shiftable(t), shared.shiftable(t)
		s.startDemo()
		g := s.guest(0)

		type placed struct {
			order
			begun, answered time.Time
		}
		place := func(method string) (p placed) {
			w := g.request(line{ItemID: phoGa, Qty: 1})
			w.PaymentMethod = method
			p.begun = time.Now()
			p.order = g.retry(w, 8*time.Second).want(t, http.StatusCreated, "").order(t)
			p.answered = time.Now()
			return p
		}
		var open []placed
		for n, by := range []time.Duration{time.Hour, -time.Hour} {
			of := []placed{place(vnpay), place("SANDBOX")}
			storm, arrived := make(chan placed, 64), make(chan struct{})
			stop := make(chan struct{})
			go func() {
				defer close(storm)
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					case storm <- place("SANDBOX"):
					}
					if i == 1 {
						close(arrived)
					}
				}
			}()
			<-arrived
			stepped := time.Now()
			testenv.NoError(t, os.WriteFile(shift, []byte(by.String()), 0o600))
			s.await(10*time.Second, func() error {
				seen := s.steps(v, "deciding", "forward") + s.steps(v, "deciding", "back")
				if seen != n+1 || s.metricOf(v, "clock_settled") != 1 {
					return fmt.Errorf("%d steps were followed, want %d", seen, n+1)
				}
				return nil
			})
			close(stop)
			for p := range storm {
				of = append(of, p)
			}
			for _, p := range of {
				o := g.get(p.ID).order(t)
				due := o.PayBy.Add(-by)
				if o.Status == "CANCELED" || due.Before(p.begun.Add(window-clockSlack)) || due.After(p.answered.Add(window+clockSlack)) {
					t.Errorf("an order of %v is %s and to be paid by %v", p.begun, o.Status, due)
				}
			}
			for _, p := range of[:2] { // on new pages: the deadlines of old ones did not move
				answer := g.send(http.MethodPost, "/cis/order/"+p.ID+"/pay", map[string]string{"method": vnpay})
				s.wantPages(s.pressButton(pageOf(t, answer.want(t, http.StatusOK, "")), "pay"), saysPaid)
				g.awaitPayment(p.order, "PAID")
			}
			for _, check := range [][]string{
				{"stock", "reconcile"}, {"index", "verify"}, {"keys", "audit", "--rate", "0"}, {"audit", "verify"},
			} {
				s.await(max(repairTime-time.Since(stepped), time.Second), func() error {
					if r := s.run(check...); r.code != 0 {
						return fmt.Errorf("comanda %s: exit code %d: %s%s", strings.Join(check, " "), r.code, r.out, r.err)
					}
					return nil
				})
			}
			t.Logf("%v: %d orders, clean after %v", by, len(of), time.Since(stepped))
			open = append(open, of[2:]...)
		}

		s.await(window+grace+expiryLag, func() error {
			left := open[:0]
			for _, p := range open {
				ended := g.get(p.ID).order(t).Status == "CANCELED"
				switch now := time.Now(); {
				case ended && now.Before(p.begun.Add(window+grace-clockSlack)):
					t.Errorf("an order of %v has ended by %v", p.begun, now)
				case !ended && now.After(p.answered.Add(window+grace+expiryLag+clockSlack)):
					t.Errorf("an order of %v stands at %v", p.begun, now)
				case !ended:
					left = append(left, p)
				}
			}
			if open = left; len(open) > 0 {
				return fmt.Errorf("%d orders stand", len(open))
			}
			return nil
		})
		s.awaitConsistent()
	}, embedded)
}

// A released binary has no file that shifts its clock.
func TestClock_of_a_release(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		for path, want := range map[string]bool{shared.released(t): false, shared.shiftable(t): true} {
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
		s.useRelease()
		if r := s.run("serve"); r.code == 0 || !strings.Contains(r.err, "COMANDA_FAULTCLOCK_FILE is not a setting") {
			t.Errorf("exit code %d: %s", r.code, r.err)
		}
	}, embedded)
}
