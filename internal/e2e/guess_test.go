package e2e

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"comanda/internal/account"
	"comanda/internal/sqldb"
)

// metricSum sums a metric over all servers.
func (s *installation) metricSum(name string) (sum int) {
	s.t.Helper()
	for _, v := range s.servers {
		n := s.metricOf(v, name)
		if n < 0 {
			s.t.Fatalf("%s has no %s", v.addr, name)
		}
		sum += n
	}
	return sum
}

// queryNumber reads one number from the database.
func (s *installation) queryNumber(text string) (n int64) {
	s.t.Helper()
	s.database(func(db *sqldb.DB) (err error) {
		n, err = sqldb.Scalar[int64](s.t.Context(), db, statement(text))
		return err
	})
	return n
}

// The metrics that alerts query exist from the start, at every server.
func TestMetrics_of_alerts_exist_at_start(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, limited)
		for _, name := range []string{
			`auth_login_total{result="ok"}`, `auth_login_total{result="failed"}`, `auth_login_total{result="closed"}`,
			"auth_refresh_reuse_total", `otp_total{event="sent"}`, `otp_total{event="compared"}`, `otp_total{event="refused"}`,
			`otp_total{event="accepted"}`, `ratelimit_rejected_total{policy="login_account"}`,
			`ratelimit_rejected_total{policy="otp_verify_ip"}`, `authz_denied_total{policy="staff"}`,
			`authz_denied_total{policy="admin"}`, `authz_denied_total{policy="member"}`, `qr_exchange_total{result="entered"}`,
			`qr_exchange_total{result="unknown"}`, `qr_exchange_total{result="revoked"}`, "password_hash_total",
			"password_hash_rejected_total",
		} {
			s.metricSum(name)
		}
		s.guest(0)
		s.send(http.MethodPost, "/cis/landing", map[string]string{"qr": "nobody's"})
		for _, result := range []string{"entered", "unknown"} {
			if n := s.metricSum(`qr_exchange_total{result="` + result + `"}`); n != 1 {
				t.Errorf("one scan that is %s is counted as %d", result, n)
			}
		}
	}, embedded, pair)
}

// A thousand concurrent guesses at one code: five are compared, and afterwards the code itself is refused. They count
// as failures, and so do guesses at unused addresses, so that an attack across accounts raises the same metric.
func TestGuess_code(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		p := s.registerPerson("lan")
		code := p.code()
		compared, refused := s.metricSum(`otp_total{event="compared"}`), s.metricSum(`otp_total{event="refused"}`)
		answers := make([]answer, 1000)
		inParallel(len(answers), func(i int) {
			guess := fmt.Sprintf("%06d", 7*i)
			if guess == code {
				guess = otherCode(code)
			}
			answers[i] = p.verify(guess)
		})
		wrong := 0
		for _, a := range answers {
			if a.status == http.StatusServiceUnavailable { // more concurrent requests than the server accepts
				continue
			}
			a.want(t, http.StatusUnprocessableEntity, "code_invalid")
			wrong++
		}
		if wrong < 5 {
			t.Fatalf("%d of 1,000 guesses were answered", wrong)
		}
		p.verify(code).want(t, http.StatusUnprocessableEntity, "code_invalid")
		if n := s.metricSum(`otp_total{event="compared"}`) - compared; n != 5 {
			t.Errorf("%d guesses are compared, want 5", n)
		}
		if n := s.metricSum(`otp_total{event="refused"}`) - refused; n != wrong+1 {
			t.Errorf("%d guesses are counted, want %d", n, wrong+1)
		}
		if n := s.queryNumber("SELECT attempts FROM auth_otp WHERE purpose = 'VERIFY'"); n != 5 {
			t.Errorf("%d attempts stand in SQL", n)
		}
		p.login(s.first(), personPassword).want(t, http.StatusForbidden, "not_verified")

		refused = s.metricSum(`otp_total{event="refused"}`)
		for i := range 20 {
			(&person{s: s, email: fmt.Sprintf("nobody%d@example.com", i)}).verify(code).
				want(t, http.StatusUnprocessableEntity, "code_invalid")
		}
		if n := s.metricSum(`otp_total{event="refused"}`) - refused; n != 20 {
			t.Errorf("20 guesses at unused addresses are counted as %d", n)
		}
	}, embedded, pair)
}

// From one address thirty guesses an hour are answered, whichever accounts they target.
func TestGuess_code_sideways(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, limited)
		answered := 0
		for i := range 40 {
			a := (&person{s: s, email: fmt.Sprintf("nobody%d@example.com", i)}).verify("123456")
			if a.status == http.StatusTooManyRequests {
				if a.header.Get("Retry-After") == "" {
					t.Error("the refusal has no time for the next guess")
				}
				continue
			}
			a.want(t, http.StatusUnprocessableEntity, "code_invalid")
			answered++
		}
		if n := s.metricSum(`ratelimit_rejected_total{policy="otp_verify_ip"}`); answered != 30 || n != 10 {
			t.Errorf("%d guesses are answered, %d refusals counted", answered, n)
		}
	}, embedded, pair)
}

// A username can be guessed at only as often as permitted, from one address and however many guesses come at once. A
// login costs one hash whether or not the account exists.
func TestGuess_password(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, limited)
		lan := s.newPerson("lan")
		nobody := person{s: s, email: "nobody@example.com"}
		compared := map[string]int{}
		for _, p := range []*person{&lan, &nobody} {
			before := s.metricSum("password_hash_total")
			answers := make([]answer, 12)
			inParallel(len(answers), func(i int) { answers[i] = p.login(s.first(), fmt.Sprint("guess ", i)) })
			for _, a := range answers {
				if a.status != http.StatusTooManyRequests {
					a.want(t, http.StatusUnauthorized, "login_failed")
				}
			}
			compared[p.email] = s.metricSum("password_hash_total") - before
		}
		if want := map[string]int{lan.email: 5, nobody.email: 5}; fmt.Sprint(compared) != fmt.Sprint(want) {
			t.Errorf("of 12 guesses were compared %v, want %v", compared, want)
		}
		lan.login(s.first(), personPassword).want(t, http.StatusTooManyRequests, "rate_limited")
	}, embedded, servers)
}

// boundKiB returns the memory limit of a process while it hashes passwords. The live heap is everything else and two
// hashes per core: one that is computed, and one that ended during a collection, which keeps what was allocated while it
// runs. The runtime's limit lets the heap grow by 192 MiB (app.memory). Two hundred hashes at once would take 3.7 GiB.
func boundKiB() int {
	const (
		computation = 19 << 10
		growth      = 192 << 10
		other       = 48 << 10 // routes and their contract, queues, connections of three hundred callers
		outside     = 96 << 10 // besides the heap: stacks, kernel buffers, pages of the program
	)
	return growth + 2*runtime.NumCPU()*computation + other + outside
}

// Two hundred logins at once: the process uses memory for one hash per core, other requests are served meanwhile, and
// excess logins are refused with Retry-After. A release hashes passwords at the full cost.
func TestGuess_storm_of_logins(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := prepare(t, k, nil)
		s.useRelease()
		s.startDemo()
		v := s.first()
		v.awaitGreeting() // the demo's accounts are hashed the same way
		s.registerPerson("lan")
		if n := s.queryNumber(`SELECT count(*) FROM app_user
			WHERE email = 'lan@example.com' AND password LIKE '_argon2id_v=19_m=19456,t=2,p=1_%'`); n != 1 {
			t.Error("a release does not hash passwords at the full cost")
		}
		logins, menus := make([]answer, 200), make([]answer, 100)
		took := make([]time.Duration, len(menus))
		inParallel(len(logins)+len(menus), func(i int) {
			if i < len(logins) {
				logins[i] = (&person{s: s, email: fmt.Sprintf("guest%d@example.com", i)}).login(v, "a wrong password")
				return
			}
			i -= len(logins)
			begun := time.Now()
			menus[i] = s.sendTo(v.addr, http.MethodPost, "/cis/menu/active", map[string]string{"branchId": firstBranch})
			took[i] = time.Since(begun)
		})
		computed, late := 0, 0
		for _, a := range logins {
			if a.status == http.StatusUnauthorized {
				computed++
				continue
			}
			if p, ok := a.problem(); ok && a.status == http.StatusServiceUnavailable && p.Code != "busy" {
				late++ // queued longer than a request may take: a slow machine
				continue
			}
			a.want(t, http.StatusServiceUnavailable, "busy")
			if n, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || n < 1 {
				t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
			}
		}
		for _, a := range menus {
			a.want(t, http.StatusOK, "")
		}
		slices.Sort(took)
		peak, bound := v.peakKiB(t), boundKiB()
		t.Logf("%d of 200 logins computed; the process took %d MiB, allowed are %d; menus took %v in the middle, %v at most",
			computed, peak>>10, bound>>10, took[len(took)/2], took[len(took)-1])
		if computed == 0 || computed == len(logins) || peak > bound {
			t.Errorf("%d logins were computed, and the process took %d KiB", computed, peak)
		}
		if most := account.HashQueue + runtime.NumCPU(); late > most {
			t.Errorf("%d logins were neither computed nor refused; %d can wait", late, most)
		}
		if n := s.metricOf(v, "password_hash_rejected_total"); n != len(logins)-computed-late {
			t.Errorf("%d refusals are counted, want %d", n, len(logins)-computed-late)
		}
	}, embedded, servers)
}
