package e2e

import (
	"fmt"
	"mime"
	"net/http"
	"net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"
)

const revocationLag = 5 * time.Second // until every process refuses an ended session

// accountBody is an account in the responses of /me and /api/users.
type accountBody struct {
	ID         string         `json:"id"`
	Username   *string        `json:"username"`
	Email      string         `json:"email"`
	City       *string        `json:"city"`
	Role       string         `json:"role"`
	BranchIDs  []string       `json:"branchIds"`
	Status     string         `json:"accountStatus"`
	Registered bool           `json:"registered"`
	Profile    map[string]any `json:"profile"`
}

// grant is the response of a login and a refresh.
type grant struct {
	Access    string      `json:"accessToken"`
	ExpiresIn int         `json:"expiresIn"`
	Refresh   string      `json:"refreshToken"`
	User      accountBody `json:"user"`
}

// mailSubjects returns the subjects of the messages to an address, the oldest first: the file names are sorted.
func (s *installation) mailSubjects(email string) (subjects []string) {
	s.t.Helper()
	var files []string
	for _, v := range s.servers {
		messages, _ := filepath.Glob(filepath.Join(v.env["DATA_DIR"], "mail", "*.eml")) // the pattern is valid
		files = append(files, messages...)
	}
	slices.SortFunc(files, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	for _, f := range files {
		if to, subject := s.readMail(f); to == "<"+email+">" {
			subjects = append(subjects, subject)
		}
	}
	return subjects
}

func (s *installation) readMail(path string) (to, subject string) {
	s.t.Helper()
	f := testenv.Must(os.Open(path))(s.t)
	defer f.Close()
	m, err := mail.ReadMessage(f)
	if err != nil {
		s.t.Fatalf("read %s: %v", path, err)
	}
	subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		s.t.Fatalf("subject of %s: %v", path, err)
	}
	return m.Header.Get("To"), subject
}

// createStaff returns a logged-in account that the operator created at the command line.
func (s *installation) createStaff(role, branches string) *person {
	s.t.Helper()
	p := &person{s: s, email: role + branches + "@staff.example"}
	args := []string{"user", "create", "--role", role, "--email", p.email}
	if branches != "" {
		args = append(args, "--branch", branches)
	}
	var made accountBody
	s.env["PASSWORD"] = personPassword
	defer delete(s.env, "PASSWORD")
	s.readJSON(&made, args...)
	p.id = made.ID
	p.logIn()
	return p
}

// storeGrant stores the tokens of a response and returns all of it.
func (p *person) storeGrant(a answer) (g grant) {
	p.s.t.Helper()
	p.storeTokens(a)
	a.into(p.s.t, &g)
	return g
}

// credentials are the body of a login.
func (p *person) credentials(password string) map[string]string {
	return map[string]string{"email": p.email, "password": password}
}

// tryLogin sends a password to the next server in turn.
func (p *person) tryLogin(password string) answer {
	return p.s.send(http.MethodPost, "/auth/login", p.credentials(password))
}

// refresh sends a refresh token to a server.
func (s *installation) refresh(v *server, token string) answer {
	return s.sendTo(v.addr, http.MethodPost, "/auth/refresh", map[string]string{"refreshToken": token})
}

func (p *person) send(method, path string, body any) answer {
	return p.s.send(method, path, body, "Authorization", "Bearer "+p.access)
}

func (p *person) sendTo(v *server, method, path string, body any) answer {
	return p.s.sendTo(v.addr, method, path, body, "Authorization", "Bearer "+p.access)
}

// logOutAt logs out at a server, which refuses the session at once.
func (p *person) logOutAt(v *server) {
	p.s.t.Helper()
	p.logout(v).want(p.s.t, http.StatusNoContent, "")
	p.me(v).want(p.s.t, http.StatusUnauthorized, "unauthenticated")
}

// wantRefused waits until every server refuses the session, within the promised time.
func (p *person) wantRefused() {
	p.s.t.Helper()
	p.s.await(revocationLag, func() error {
		for _, v := range p.s.servers {
			if a := p.me(v); a.status != http.StatusUnauthorized {
				return fmt.Errorf("%s answers %v", v.addr, a)
			}
		}
		return nil
	})
}

// wantAccepted expects every server to accept the session.
func (p *person) wantAccepted() {
	p.s.t.Helper()
	for _, v := range p.s.servers {
		p.me(v).want(p.s.t, http.StatusOK, "")
	}
}

// first and last are the installation's servers, the same one if there is only one.
func (s *installation) first() *server { return s.servers[0] }
func (s *installation) last() *server  { return s.servers[len(s.servers)-1] }

// A member registers, logs in by e-mail address and by username, and edits the profile.
func TestMember(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		var made accountBody
		s.send(http.MethodPost, "/auth/register", map[string]any{
			"email": " Lan@Example.com", "username": "Lan.N", "password": personPassword, "firstName": "Lan",
			"profile": map[string]any{"diet": "vegan"},
		}).want(t, http.StatusCreated, "").into(t, &made)
		p := &person{s: s, id: made.ID, email: "lan@example.com"}
		if made.Status != "PENDING" || made.Registered || made.Role != "USER" || made.Email != p.email {
			t.Errorf("a new account is %+v", made)
		}
		s.send(http.MethodPost, "/auth/register", p.credentials(personPassword)).want(t, http.StatusConflict, "email_taken")
		p.tryLogin(personPassword).want(t, http.StatusForbidden, "not_verified")

		code := p.code()
		p.verify(otherCode(code)).want(t, http.StatusUnprocessableEntity, "code_invalid")
		(&person{s: s, email: "minh@example.com"}).verify(code).want(t, http.StatusUnprocessableEntity, "code_invalid")
		p.verify(code).want(t, http.StatusOK, "")
		p.verify(code).want(t, http.StatusUnprocessableEntity, "code_invalid")
		s.await(patience, func() error {
			l := s.mailSubjects(p.email)
			welcome := slices.DeleteFunc(slices.Clone(l), sixDigits.MatchString)
			if len(l) != 2 || len(welcome) != 1 {
				return fmt.Errorf("the messages are %q", l)
			}
			return nil
		})

		g := p.storeGrant(p.tryLogin(personPassword))
		if g.ExpiresIn < 590 || g.ExpiresIn > 600 || !g.User.Registered || g.User.Status != "ACTIVE" || g.User.ID != p.id {
			t.Errorf("a login returns %+v", g)
		}
		p.storeGrant(s.send(http.MethodPost, "/auth/login", map[string]string{"username": "LAN.n", "password": personPassword}))
		s.send(http.MethodPost, "/auth/login", map[string]string{"username": "lan.n", "password": personPassword + " "}).
			want(t, http.StatusUnauthorized, "login_failed")
		p.wantAccepted()
		p.send(http.MethodPatch, "/me", map[string]string{"city": "Huế"}).want(t, http.StatusOK, "")
		p.send(http.MethodPatch, "/me", map[string]string{"role": "OWNER"}).want(t, http.StatusUnprocessableEntity, "invalid")
		var me accountBody
		p.send(http.MethodGet, "/me", nil).into(t, &me)
		if me.City == nil || *me.City != "Huế" || *me.Username != "lan.n" || me.Profile["diet"] != "vegan" || me.Role != "USER" {
			t.Errorf("the account is %+v", me)
		}
		for _, path := range []string{"/api/users", "/api/orders/x", "/api/audit", "/api/roles", "/api/tables"} {
			p.send(http.MethodGet, path, nil).want(t, http.StatusForbidden, "forbidden")
		}
		s.send(http.MethodGet, "/me", nil).want(t, http.StatusUnauthorized, "unauthenticated")
		s.staff(http.MethodGet, "/me", nil).want(t, http.StatusForbidden, "account_needed")
	}, embedded, pair)
}

// otherCode returns another well-formed code.
func otherCode(code string) string {
	if code == "000000" {
		return "111111"
	}
	return "000000"
}

// A refresh token works once. An immediate retry returns the same pair. Reuse of an older token ends the session for
// every holder of its tokens.
func TestMember_refresh(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		p := s.newPerson("lan")
		otherDevice := p
		otherDevice.logIn()

		tokens := []grant{{Access: p.access, Refresh: p.refresh}}
		for range 2 {
			spent := tokens[len(tokens)-1]
			next := p.storeGrant(s.refresh(s.first(), spent.Refresh).want(t, http.StatusOK, ""))
			again := p.storeGrant(s.refresh(s.last(), spent.Refresh).want(t, http.StatusOK, ""))
			if next.Refresh == spent.Refresh || next.Access == spent.Access {
				t.Fatal("a refresh returned the old tokens")
			}
			if again.Refresh != next.Refresh || again.Access != next.Access {
				t.Fatal("the immediate retry gets another pair")
			}
			tokens = append(tokens, next)
		}
		p.wantAccepted()
		reused := s.metric("auth_refresh_reuse_total")
		s.refresh(s.first(), tokens[0].Refresh).want(t, http.StatusUnauthorized, "refresh_token_invalid")
		if n := s.metric("auth_refresh_reuse_total"); n != reused+1 {
			t.Errorf("a reuse is counted as %d", n-reused)
		}
		for i, g := range tokens {
			for _, v := range s.servers {
				s.refresh(v, g.Refresh).want(t, http.StatusUnauthorized, "refresh_token_invalid")
			}
			p.access = tokens[i].Access
			p.wantRefused()
		}
		otherDevice.wantAccepted()
		p.logIn()
		p.wantAccepted()
	}, embedded, pair)
}

// A logout takes effect everywhere within five seconds, whether or not a server has seen the token before, and even if
// Redis has lost it.
func TestMember_logout(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		p := s.newPerson("lan")
		for _, loses := range []bool{false, true} {
			p.logIn()
			p.wantAccepted()
			p.logOutAt(s.first())
			if loses {
				s.flush()
			}
			p.wantRefused()
			s.refresh(s.last(), p.refresh).want(t, http.StatusUnauthorized, "refresh_token_invalid")
		}
		p.logIn()
		s.sendTo(s.first().addr, http.MethodPost, "/auth/logout", map[string]string{"refreshToken": p.refresh}).
			want(t, http.StatusNoContent, "")
		s.flush()
		p.wantRefused() // the other server has not cached it
	}, embedded, pair)
}

// Sessions are listed and ended one by one. A new password ends them all, and so does a password reset by code.
func TestMember_sessions(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		first, other := s.createStaff("cashier", "1"), s.newPerson("minh")
		second := *first
		second.logIn()
		type session struct {
			ID      string `json:"id"`
			Current bool   `json:"current"`
		}
		var list struct {
			Items []session `json:"items"`
		}
		first.send(http.MethodGet, "/me/sessions", nil).into(t, &list)
		i := slices.IndexFunc(list.Items, func(s session) bool { return !s.Current })
		if len(list.Items) != 2 || i < 0 {
			t.Fatalf("the sessions are %+v", list)
		}
		path := "/me/sessions/" + list.Items[i].ID
		other.send(http.MethodDelete, path, nil).want(t, http.StatusNotFound, "session_not_found")
		first.sendTo(s.first(), http.MethodDelete, path, nil).want(t, http.StatusNoContent, "")
		second.wantRefused()
		first.wantAccepted()
		first.send(http.MethodDelete, path, nil).want(t, http.StatusNotFound, "session_not_found")

		second.logIn()
		next := "another horse, another battery"
		change := func(present, next string) answer {
			return first.sendTo(s.first(), http.MethodPost, "/me/password",
				map[string]string{"currentPassword": present, "newPassword": next})
		}
		change(personPassword+"!", next).want(t, http.StatusForbidden, "password_wrong")
		change(personPassword, "fourteen chars").want(t, http.StatusUnprocessableEntity, "password_unfit")
		change(personPassword, next).want(t, http.StatusNoContent, "")
		second.wantRefused()
		first.wantAccepted()

		forgotten := map[string]string{"purpose": "RESET", "email": first.email}
		s.send(http.MethodPost, "/auth/otp/request", forgotten).want(t, http.StatusAccepted, "")
		again := s.send(http.MethodPost, "/auth/otp/request", forgotten).want(t, http.StatusTooManyRequests, "rate_limited")
		if again.header.Get("Retry-After") == "" {
			t.Error("the response has no time for the next code")
		}
		reset := map[string]string{"email": first.email, "code": first.code(), "password": personPassword}
		s.sendTo(s.first().addr, http.MethodPost, "/auth/password/reset", reset).want(t, http.StatusNoContent, "")
		s.send(http.MethodPost, "/auth/password/reset", reset).want(t, http.StatusUnprocessableEntity, "code_invalid")
		first.wantRefused()
		first.tryLogin(next).want(t, http.StatusUnauthorized, "login_failed")
		first.logIn()
		first.wantAccepted()

		// An unused address gets the same response, and no message is sent.
		nobody := map[string]string{"purpose": "RESET", "email": "nobody@example.com"}
		s.send(http.MethodPost, "/auth/otp/request", nobody).want(t, http.StatusAccepted, "")
		s.send(http.MethodPost, "/auth/otp/request", nobody).want(t, http.StatusTooManyRequests, "rate_limited")
		if l := s.mailSubjects("nobody@example.com"); len(l) != 0 {
			t.Errorf("the unused address received %q", l)
		}
	}, embedded, pair)
}
