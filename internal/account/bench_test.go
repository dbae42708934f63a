package account_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
)

// BenchmarkAccounts_Login shows that argon2 limits logins (raw is the hash alone). It also shows that a refusal takes
// as long for an unknown address as for a known one: both alternate, and the medians are reported.
func BenchmarkAccounts_Login(b *testing.B) {
	params := account.DefaultArgon2Params
	b.Run("raw", func(b *testing.B) {
		salt := make([]byte, 16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				argon2.IDKey([]byte(accounttest.Password), salt, params.Time, params.Memory, params.Threads, 32)
			}
		})
	})
	for name, db := range map[string]func(testing.TB) *sqldb.DB{
		"sqlite": sqldbtest.SQLite, "postgres": sqldbtest.Postgres,
	} {
		b.Run(name, func(b *testing.B) {
			h := accounttest.Open(b, db(b), accounttest.NewSessionCache())
			h.Hasher = account.NewHasher(params, runtime.GOMAXPROCS(0))
			for i := range people {
				h.CreateMember(b, address(i))
			}
			b.Run("right", func(b *testing.B) { logins(b, h) })
			b.Run("refused", func(b *testing.B) { refusals(b, h) })
		})
	}
}

const people = 32

func address(i int) string { return fmt.Sprintf("guest%d@example.com", i%people) }

// logins logs members in, one per core at a time.
func logins(b *testing.B, h *accounttest.Env) {
	b.Helper()
	var turn atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			in := account.Credentials{Email: address(int(turn.Add(1))), Password: accounttest.Password}
			if _, err := h.Login(b.Context(), in, accounttest.Caller()); err != nil {
				b.Errorf("Login(%s): %v", in.Email, err)
				return
			}
		}
	})
}

// refusals alternates wrong passwords of known and unknown addresses.
func refusals(b *testing.B, h *accounttest.Env) {
	b.Helper()
	took := map[string][]time.Duration{}
	try := func(group, email string) {
		begun := time.Now()
		in := account.Credentials{Email: email, Password: "something else"}
		if _, err := h.Login(b.Context(), in, accounttest.Caller()); !errors.Is(err, account.ErrLogin) {
			b.Fatalf("Login(%s): error %v, want ErrLogin", email, err)
		}
		took[group] = append(took[group], time.Since(begun))
	}
	for i := 0; b.Loop(); i++ {
		try("known", address(i))
		try("unknown", "no"+address(i))
		try("unknown", "no"+address(i)) // alternates the order, against bias by garbage collection
		try("known", address(i))
	}
	for group, times := range took {
		slices.Sort(times)
		b.ReportMetric(times[len(times)/2].Seconds()*1e3, group+"-ms")
	}
}
