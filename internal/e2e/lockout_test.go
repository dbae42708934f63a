package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accountjwt"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// trusting makes the server take the client's address from a header, so that a test can use many addresses.
var trusting = settings{"LIMITS": "on", "TRUSTED_PROXIES": "127.0.0.1"}

// loginFrom sends a login from an address, with the device's cookie.
func (s *installation) loginFrom(address, cookie, email, password string) answer {
	return s.send(http.MethodPost, "/auth/login", map[string]string{"email": email, "password": password},
		"X-Forwarded-For", address, "Cookie", "comanda_device="+cookie)
}

// deviceCookie returns the cookie that a login has set.
func deviceCookie(t *testing.T, a answer) string {
	t.Helper()
	c, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
	if err != nil || c.Name != "comanda_device" {
		t.Fatalf("%v sets %q", a, a.header.Get("Set-Cookie"))
	}
	return c.Value
}

// Attackers guess at the owner's password from many addresses until new devices are locked out. The owner's known
// device still logs in at every server, open sessions continue, and colleagues switch by PIN. The audit log has the
// target and the addresses.
func TestLogin_lockout(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, trusting)
		owner, waiter, cook := s.createStaff("owner", ""), s.createStaff("staff", "1"), s.createStaff("kitchen", "1")
		const pin = "4826"
		cook.send(http.MethodPut, "/me/pin", map[string]string{"password": personPassword, "pin": pin}).
			want(t, http.StatusNoContent, "")
		cookie := deviceCookie(t, s.loginFrom("192.0.2.7", "", owner.email, personPassword))

		// The server limits the logins per second. If it refuses a guess for that reason, the attacker guesses again.
		for _, victim := range []*person{owner, waiter, cook} {
			guesses := 0
			s.await(patience, func() error {
				guesses++
				a := s.loginFrom(fmt.Sprint("198.51.100.", guesses%200), "", victim.email, "something else")
				switch a.status {
				case http.StatusTooManyRequests:
					return nil
				case http.StatusUnauthorized, http.StatusServiceUnavailable:
					return fmt.Errorf("guess %d is answered %v", guesses, a)
				}
				t.Fatalf("a guess is answered %v", a)
				return nil
			})
		}
		s.await(patience, func() error {
			a := s.loginFrom("203.0.113.1", "", owner.email, personPassword)
			if a.status == http.StatusServiceUnavailable {
				return fmt.Errorf("a login is answered %v", a)
			}
			a.want(t, http.StatusTooManyRequests, "rate_limited")
			return nil
		})
		if a := s.loginFrom("203.0.113.1", "1.x.99999999999.y.z", owner.email, personPassword); a.status == http.StatusOK {
			t.Error("a forged device cookie opens the account")
		}
		for _, v := range s.servers {
			a := s.sendTo(v.addr, http.MethodPost, "/auth/login", owner.credentials(personPassword), "X-Forwarded-For", "198.51.100.7",
				"Cookie", "comanda_device="+cookie)
			owner.storeTokens(a.want(t, http.StatusOK, ""))
			cookie = deviceCookie(t, a)
		}
		owner.wantAccepted()
		waiter.send(http.MethodGet, "/api/tables?branchId=1", nil).want(t, http.StatusOK, "")
		waiter.send(http.MethodPost, "/auth/pin", map[string]string{"userId": cook.id, "pin": pin}).want(t, http.StatusOK, "")
		waiter.send(http.MethodGet, "/api/users", nil).want(t, http.StatusForbidden, "forbidden")

		s.awaitAudit(t, owner, "authn_login_fail", "anonymous", "user:"+owner.id, "198.51.100.")
		s.awaitAudit(t, owner, "authz_fail", "user:"+waiter.id, "route:GET /api/users", "127.0.0.1")
		s.awaitAudit(t, owner, "authn_login_success", "user:"+owner.id, "user:"+owner.id, "198.51.100.7")
		s.must("audit", "verify")
	}, embedded, pair)
}

// awaitAudit waits for an entry of the audit log.
func (s *installation) awaitAudit(t *testing.T, reader *person, action, actor, subject, address string) {
	t.Helper()
	s.await(patience, func() error {
		var list struct {
			Items []struct{ Actor, Subject, Address string } `json:"items"`
		}
		a := reader.send(http.MethodGet, "/api/audit?size=100&action="+action, nil)
		if a.status == http.StatusTooManyRequests { // a test polls more often than a person may
			return fmt.Errorf("%v", a)
		}
		a.into(t, &list)
		for _, e := range list.Items {
			if e.Actor == actor && e.Subject == subject && strings.HasPrefix(e.Address, address) {
				return nil
			}
		}
		return fmt.Errorf("there is no %s of %s by %s from %s among %+v", action, subject, actor, address, list.Items)
	})
}

// forgedToken returns an access token for a person's session, signed with the key in SQL.
func (s *installation) forgedToken(p *person) string {
	s.t.Helper()
	var key string
	s.database(func(db *sqldb.DB) (err error) {
		key, err = sqldb.Scalar[string](s.t.Context(), db,
			statement("SELECT value FROM install_secret WHERE name = 'token'"))
		return err
	})
	raw := testenv.Must(base64.StdEncoding.DecodeString(key))(s.t)
	tokens := testenv.Must(accountjwt.New(raw))(s.t)
	var problem struct {
		Session string `json:"sid"`
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(p.access, ".")[1])
	if err != nil || json.Unmarshal(payload, &problem) != nil {
		s.t.Fatalf("%s is not a token: %v", p.access, err)
	}
	var user int64
	testenv.Must(fmt.Sscan(p.id, &user))(s.t)
	now := time.Now()
	return testenv.Must(tokens.Sign(account.Claims{
		ID: "forged", UserID: user, Session: problem.Session, IssuedAt: now, ExpiresAt: now.Add(account.AccessTokenTTL),
	}))(s.t)
}

// A stolen key is withdrawn while servers run: all refuse tokens that it signed, and clients continue after a refresh.
func TestKeys_withdraw(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		owner := s.createStaff("owner", "")
		stolen := &person{s: s, access: s.forgedToken(owner)}
		stolen.wantAccepted() // with the stolen key
		s.must("keys", "withdraw")
		stolen.wantRefused()
		owner.wantRefused()
		owner.storeTokens(owner.spendRefreshToken(owner.refresh))
		owner.wantAccepted()
		for _, v := range s.servers {
			stolen.me(v).want(t, http.StatusUnauthorized, "unauthenticated")
		}
		s.awaitAudit(t, owner, "token_key_withdrawn", "system", "key:token", "")
	}, embedded, pair)
}

// An operator's key replaces the one in SQL, which is in every backup, completely.
func TestKeys_given(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, settings{"TOKEN_KEY": strings.Repeat("a key of the operator's own ", 2)})
		owner := s.createStaff("owner", "")
		owner.wantAccepted()
		stolen := &person{s: s, access: s.forgedToken(owner)}
		stolen.me(s.first()).want(t, http.StatusUnauthorized, "unauthenticated")
		if r := s.run("keys", "withdraw"); r.code != 0 || !strings.Contains(r.out, "COMANDA_TOKEN_KEY is set") {
			t.Errorf("keys withdraw: %+v", r)
		}
	}, embedded)
}

// Staff find the member of a phone by the device id, which a login sets; the newest login on it wins (002-A11).
func TestDevice_lookup(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		owner := s.createStaff("OWNER", "")
		lan, minh := s.newMember("lan"), s.newMember("minh")
		email := func(m member) string {
			var me struct{ Email string }
			m.send(http.MethodGet, "/me", nil).want(t, http.StatusOK, "").into(t, &me)
			return me.Email
		}
		var in struct{ User struct{ DeviceID string } }
		cookie := ""
		login := func(m member) {
			t.Helper()
			a := s.send(http.MethodPost, "/auth/login", map[string]string{"email": email(m), "password": memberPassword}, "Cookie", cookie)
			a.want(t, http.StatusOK, "").into(t, &in)
			cookie, _, _ = strings.Cut(a.header.Get("Set-Cookie"), ";")
		}
		find := func(id, want string) {
			t.Helper()
			s.await(patience, func() error { // the index follows within seconds
				var page struct{ Items []struct{ ID string } }
				owner.send(http.MethodGet, "/api/users?deviceId="+id, nil).want(t, http.StatusOK, "").into(t, &page)
				if len(page.Items) != 1 || page.Items[0].ID != want {
					return fmt.Errorf("found %+v, want %s", page.Items, want)
				}
				return nil
			})
		}
		login(lan)
		phone := in.User.DeviceID
		find(phone, lan.id)
		login(minh)
		if in.User.DeviceID != phone {
			t.Errorf("the phone is %q to another member, want %q", in.User.DeviceID, phone)
		}
		find(phone, minh.id)
	}, embedded, servers)
}

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
