package e2e

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// faults act repeatedly while guests order. Each continues until its context ends, and then restores the system.
var faults = map[string]func(s *installation, ctx context.Context) error{
	"PostgreSQL ends every connection": func(s *installation, ctx context.Context) error {
		db, err := sqldb.Open(ctx, sqldb.Config{URL: s.env["DATABASE_URL"], MaxConns: 1})
		if err != nil {
			return err
		}
		defer db.Close()
		end := statement(`SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a
			WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()`)
		return every(ctx, time.Second, func() error {
			_, err := db.Exec(ctx, end)
			return err
		})
	},
	"one of two processes is frozen": func(s *installation, ctx context.Context) error {
		p := s.servers[1].cmd.Process
		defer func() { _ = p.Signal(syscall.SIGCONT) }()
		stopped := false
		return every(ctx, 1500*time.Millisecond, func() error {
			stopped = !stopped
			if stopped {
				return p.Signal(syscall.SIGSTOP)
			}
			return p.Signal(syscall.SIGCONT)
		})
	},
	"Redis evicts": func(s *installation, ctx context.Context) error {
		s.redis.Say("CONFIG SET maxmemory-policy allkeys-lru")
		defer s.redis.Say("CONFIG SET maxmemory 0")
		full := false
		return every(ctx, 500*time.Millisecond, func() error {
			full = !full
			limit := "0"
			if full {
				limit = "1500kb" // about the memory of an empty server: nearly all keys are evicted
			}
			s.redis.Say("CONFIG SET maxmemory " + limit)
			return nil
		})
	},
}

// orderDeadline returns how long an order may take during a fault: four seconds on an idle machine.
func orderDeadline() time.Duration {
	return time.Duration(testenv.Size(15, 4)) * time.Second
}

// every calls act at once and then at intervals until the context ends.
func every(ctx context.Context, pause time.Duration, act func() error) error {
	for {
		if err := act(); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// During each fault guests order, pay and cancel at two processes. No response is a server error but 503, every
// order is accepted soon, confirmed results hold, and afterwards all stores agree.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			onInstallations(t, func(t *testing.T, k kind) {
				s := prepare(t, k, nil)
				s.startDemo()
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(testenv.Size(4, 60))*time.Second)
				defer cancel()
				people := make([]*repeatGuest, testenv.Size(4, 16))
				for n := range people {
					people[n] = &repeatGuest{guest: s.guest(n), ends: map[string]string{}}
				}
				var all sync.WaitGroup
				all.Go(func() {
					if err := fault(s, ctx); err != nil {
						t.Error(err)
					}
				})
				for _, p := range people {
					all.Go(func() { p.orderUntil(ctx, t) })
				}
				all.Wait()
				orders, waited := 0, int64(0)
				for _, p := range people {
					orders += len(p.ends)
					waited += p.waited.Load()
					for id, want := range p.ends {
						if o := p.retryUntilFinal(t, func() answer { return p.get(id) }).order(t); o.PaymentStatus != want && o.Status != want {
							t.Errorf("order %s is %s/%s, and %s was answered", id, o.Status, o.PaymentStatus, want)
						}
					}
				}
				t.Logf("%d orders, %d answers of 503", orders, waited)
				if orders == 0 {
					t.Error("no order was placed")
				}
				s.awaitRepaired()
			}, pair)
		})
	}
}

// repeatGuest is a guest who orders repeatedly.
type repeatGuest struct {
	guest

	ends   map[string]string // order -> the last state in a response
	waited atomic.Int64      // responses with 503
}

func (p *repeatGuest) orderUntil(ctx context.Context, t *testing.T) {
	for n := 0; ctx.Err() == nil; n++ {
		w := p.request(line{ItemID: phoGa, Qty: 1})
		begun := time.Now()
		a := p.retryUntilFinal(t, func() answer { return p.place(w) })
		if a.status != http.StatusCreated && a.status != http.StatusOK {
			t.Errorf("an order is answered %v", a)
			return
		}
		if took := time.Since(begun); took > orderDeadline() {
			t.Errorf("an order was taken after %v", took)
		}
		o := a.order(t)
		p.ends[o.ID] = "UNPAID"
		switch n % 3 {
		case 0:
			if a := p.retryUntilFinal(t, func() answer { return p.s.gateway(o.ID, "SUCCESS") }); a.status == http.StatusOK {
				p.ends[o.ID] = "PAID"
			} else {
				t.Errorf("a payment is answered %v", a)
			}
		case 1:
			if a := p.retryUntilFinal(t, func() answer { return p.cancel(o.ID) }); a.status == http.StatusOK {
				p.ends[o.ID] = "CANCELED"
			} else {
				t.Errorf("a cancellation is answered %v", a)
			}
		}
	}
}

// retryUntilFinal retries until there is a final response. It retries after no response and after 503; any other server
// error fails the test.
func (p *repeatGuest) retryUntilFinal(t *testing.T, ask func() answer) answer {
	t.Helper()
	for begun := time.Now(); ; {
		a := ask()
		switch {
		case a.status == http.StatusServiceUnavailable:
			p.waited.Add(1)
		case a.status >= http.StatusInternalServerError:
			t.Errorf("the answer is %v", a)
			return a
		case a.status != 0:
			return a
		}
		if time.Since(begun) > patience {
			return a
		}
		<-time.After(20 * time.Millisecond)
	}
}
