package e2e

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"comanda/internal/mail/mailtest"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// However tokens are sent, correctly or not, the server logs none of them, and no key of Redis contains one.
func TestSecrets(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, settings{"LOG_LEVEL": "debug", "LOG_FORMAT": "json", "ACCESS_LOG": "on"})
		g := s.guest(0)
		secrets := map[string]string{"service token": s.secret, "customer token": g.token}
		for _, table := range s.tables {
			secrets["code of table "+table.ID] = table.QR
		}
		s.sendSecrets(g)
		s.pay(g.mustPlace(t, line{ItemID: pho, Qty: 1}).ID)
		s.must("stock", "reconcile")
		keys := s.keys()
		if s.redis != nil { // background failures are logged too
			s.redis.Kill()
			s.sendSecrets(g)
			s.redis.Restart()
		}
		s.awaitConsistent()
		s.servers[0].stop()

		log := testenv.Must(os.ReadFile(s.servers[0].log))(t)
		if n := bytes.Count(log, []byte(`"msg":"request"`)); n < 20 {
			t.Errorf("the log has only %d requests", n)
		}
		if !strings.Contains(keys, "visit:byCustomer:") {
			t.Errorf("%d bytes of keys of Redis contain no guest", len(keys))
		}
		for what, secret := range secrets {
			for _, form := range []string{secret, secret[:len(secret)/2], secret[len(secret)/2:]} {
				if strings.Contains(keys, form) {
					t.Errorf("a %s stands in a key of Redis", what)
				}
				if before, _, ok := bytes.Cut(log, []byte(form)); ok {
					line := log[bytes.LastIndexByte(before, '\n')+1:]
					t.Errorf("a %s is logged: %s", what, line[:bytes.IndexByte(line, '\n')])
				}
			}
		}
	}, embedded, servers)
}

// sendSecrets sends every secret in every place where clients put one, and in some where they should not.
func (s *installation) sendSecrets(g guest) {
	qr := s.tables[0].QR
	create := "/cis/order/create"
	w := g.request(line{ItemID: pho, Qty: 1})
	bearer := []string{"Authorization", "Bearer " + s.secret}
	s.send("GET", "/m/"+qr, nil)
	s.send("GET", "/cis/landing?qr="+qr, nil, "X-Customer-Token", g.token)
	s.send("GET", "/cis/landing?qr="+qr+"&customerToken="+g.token, nil)
	s.send("GET", "/cis/landing?qr="+qr+"%00", nil)
	s.send("POST", "/cis/landing", map[string]string{"qr": qr, "customerToken": g.token})
	s.send("POST", "/cis/landing", []byte(`{"qr":"`+qr+`"`))
	s.send("POST", "/cis/landing", map[string]string{"qr": g.token, "more": qr})
	s.send("PUT", "/cis/landing?qr="+qr, nil)
	s.send("GET", "/"+qr+"/"+g.token+"/"+s.secret, nil)
	s.send("POST", create+"?token="+g.token, w, "X-Customer-Token", strings.ToLower(g.token))
	s.send("POST", create, map[string]any{
		"items": w.Items, "paymentMethod": g.token, "clientTxnId": g.token, "menuVersionId": w.MenuVersionID,
		"visitId": qr, "customerToken": g.token,
	})
	s.send("POST", create, []byte(`{"customerToken":"`+g.token+`","customerToken":"`+qr+`"}`))
	s.send("GET", "/cis/order/"+g.token, nil, "X-Customer-Token", g.token+g.token)
	s.send("GET", "/cis/visit/"+g.visit+"/orders", nil, "X-Customer-Token", g.token)
	s.send("GET", "/api/tables?branchId="+s.secret, nil, bearer...)
	s.send("GET", "/api/orders/"+s.secret, nil, bearer...)
	s.send("GET", "/api/tables", nil, "Authorization", "Basic "+s.secret)
	s.send("GET", "/api/tables", nil, "Authorization", "Bearer "+s.secret+"x")
	s.send("GET", "/api/tables?token="+s.secret, nil, "X-Request-Id", "plausible-id")
	s.send(http.MethodPost, "/cis/payments/mock-callback", map[string]string{"orderId": g.token, "method": s.secret, "result": qr})
}

// secretSearch has secrets that must not leak, by description, and the texts to search. Codes are separate: one match
// of six digits may be an accident, but not matches for several accounts.
type secretSearch struct {
	secrets map[string]string
	codes   []string
	texts   map[string][]byte // the texts to search, by source
}

// wantRefusedAnswer checks a response that must be refused, and records the response.
func (p *secretSearch) wantRefusedAnswer(t *testing.T, what string, a answer) {
	t.Helper()
	if a.status < 400 {
		t.Errorf("%s is answered %v", what, a)
	}
	p.texts["the answers to what was wrong"] = append(p.texts["the answers to what was wrong"], a.body...)
}

// search looks for every secret in all recorded texts. Half of a secret counts, too.
func (p *secretSearch) search(t *testing.T) {
	t.Helper()
	for where, text := range p.texts {
		if len(text) < 100 {
			t.Errorf("%s: only %q was looked at", where, text)
		}
		for what, secret := range p.secrets {
			for _, form := range []string{secret, secret[:len(secret)/2], secret[len(secret)/2:]} {
				if before, _, ok := bytes.Cut(text, []byte(form)); ok {
					t.Errorf("%s: a %s after %q", where, what, before[max(0, len(before)-200):])
				}
			}
		}
		found := []string{}
		for _, code := range p.codes {
			if regexp.MustCompile(`(^|[^0-9A-Za-z.])` + code + `([^0-9A-Za-z.]|$)`).Match(text) {
				found = append(found, code)
			}
		}
		if len(found) > 1 {
			t.Errorf("%s: codes %v", where, found)
		}
	}
}

// Members' credentials leak nowhere: not into a log, metric, error, key or value of Redis, a command's output or SQL.
// Codes appear only in their message.
func TestSecrets_members(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		smtp := rand.Text()
		m := mailtest.Start(t, "127.0.0.1:0", "house", smtp)
		env := mailSettings(m)
		maps.Copy(env, settings{
			"LOG_LEVEL": "debug", "LOG_FORMAT": "json", "ACCESS_LOG": "on", "TOKEN_KEY": rand.Text() + rand.Text(),
		})
		s := open(t, k, env)
		p := &secretSearch{texts: map[string][]byte{}, secrets: map[string]string{
			"service token": s.secret, "password of the mail server": smtp, "key of tokens": env["TOKEN_KEY"],
		}}
		g := s.guest(0)
		p.secrets["customer token"] = g.token
		release := p.useSecrets(s, m)
		defer release()
		s.pay(g.mustPlace(t, line{ItemID: pho, Qty: 1}).ID)
		s.awaitPublished()

		p.texts["SQL"] = s.databaseText()
		p.texts["Redis"] = s.redisDump()
		for _, v := range s.servers {
			p.texts["the figures"] = append(p.texts["the figures"], s.sendTo(v.addr, http.MethodGet, "/metrics", nil).body...)
		}
		for _, command := range [][]string{
			{"doctor"}, {"doctor", "--json"}, {"keys", "audit", "--json"}, {"index", "verify", "--json"},
			{"export"}, {"export", "--entity", "all"}, {"audit", "verify", "--json"}, {"outbox", "status", "--json"},
		} {
			r := s.run(command...)
			p.texts["comanda "+strings.Join(command, " ")] = []byte(strings.Repeat(" ", 100) + r.out + r.err)
		}
		for _, where := range []string{"SQL", "Redis", "comanda export"} { // an empty text would pass the search
			if !bytes.Contains(p.texts[where], []byte("guest0@example.com")) {
				t.Errorf("%s does not know the people whose secrets are looked for", where)
			}
		}
		release()
		m.Close() // background failures are logged, too
		late := s.registerPerson("late")
		p.wantRefusedAnswer(t, "a code that was not sent", late.verify("123456"))
		s.await(patience, func() error {
			log, err := os.ReadFile(s.first().log)
			if err != nil || !bytes.Contains(log, []byte("out of reach")) {
				return fmt.Errorf("no log entry says that the mail server is away (%w)", err)
			}
			return nil
		})
		for _, v := range s.servers {
			v.stop()
			log := testenv.Must(os.ReadFile(v.log))(t)
			p.texts["the log"] = append(p.texts["the log"], log...)
		}
		p.secrets["code of a table"] = s.tables[0].QR // SQL stores it in plain text, for printing
		sql := p.texts["SQL"]
		delete(p.texts, "SQL")
		p.search(t)
		delete(p.secrets, "code of a table")
		p.texts = map[string][]byte{"SQL": sql}
		p.search(t)
	}, embedded, servers)
}

// useSecrets has three members use every function that takes a secret, correctly and incorrectly. The last message
// stays queued until release is called, so that its row in SQL can be searched.
func (p *secretSearch) useSecrets(s *installation, m *mailtest.Server) (release func()) {
	t := s.t
	t.Helper()
	for i := range 3 {
		if i == 2 {
			s.awaitMailsSent()
			release = m.Hold()
		}
		p.story(s, m, "guest"+strconv.Itoa(i))
	}
	return release
}

func (p *secretSearch) story(s *installation, m *mailtest.Server, name string) {
	t := s.t
	t.Helper()
	email, secret := name+"@example.com", rand.Text()
	p.secrets["password of "+name] = secret
	credentials := map[string]string{"email": email, "password": secret}
	s.send(http.MethodPost, "/auth/register", credentials).want(t, http.StatusCreated, "")
	p.wantRefusedAnswer(t, "registering again", s.send(http.MethodPost, "/auth/register", credentials))
	p.wantRefusedAnswer(t, "a login before the proof", s.send(http.MethodPost, "/auth/login", credentials))
	var code string
	s.await(patience, func() error {
		codes, _ := acceptedCodes(t, m, email)
		if len(codes) == 0 {
			return fmt.Errorf("no message to %s", email)
		}
		code = codes[0]
		return nil
	})
	p.codes = append(p.codes, code)
	verify := map[string]string{"purpose": "VERIFY", "email": email, "code": code}
	p.wantRefusedAnswer(t, "a code for another purpose", s.send(http.MethodPost, "/auth/otp/verify",
		map[string]string{"purpose": code, "email": email, "code": code}))
	p.wantRefusedAnswer(t, "a code of another", s.send(http.MethodPost, "/auth/otp/verify",
		map[string]string{"purpose": "VERIFY", "email": "x" + email, "code": code}))
	p.wantRefusedAnswer(t, "a code for a password", s.send(http.MethodPost, "/auth/password/reset",
		map[string]string{"email": email, "code": code, "password": secret}))
	s.send(http.MethodPost, "/auth/otp/verify", verify).want(t, http.StatusOK, "")
	p.wantRefusedAnswer(t, "a code once more", s.send(http.MethodPost, "/auth/otp/verify", verify))

	var first, second grant
	s.send(http.MethodPost, "/auth/login", credentials).into(t, &first)
	s.refresh(s.first(), first.Refresh).into(t, &second)
	for i, g := range []grant{first, second} {
		p.secrets[fmt.Sprintf("refresh token %d of %s", i, name)] = g.Refresh
		p.secrets[fmt.Sprintf("signature of access token %d of %s", i, name)] = g.Access[strings.LastIndexByte(g.Access, '.')+1:]
	}
	p.sendMisplaced(s, second, secret)
	p.wantRefusedAnswer(t, "a spent token", s.refresh(s.first(), p.spendTwo(s, &second)))
	var third grant
	s.send(http.MethodPost, "/auth/login", credentials).into(t, &third) // this session stays open
	p.secrets["last refresh token of "+name] = third.Refresh
	s.send(http.MethodGet, "/me", nil, "Authorization", "Bearer "+third.Access).want(t, http.StatusOK, "")
}

// spendTwo spends two tokens in a row and returns the first. Reusing it would end the session.
func (p *secretSearch) spendTwo(s *installation, g *grant) (spent string) {
	s.t.Helper()
	spent = g.Refresh
	for i := range 2 {
		s.refresh(s.first(), g.Refresh).into(s.t, g)
		p.secrets[fmt.Sprintf("refresh token %d behind %s", i, spent[:4])] = g.Refresh
	}
	return spent
}

// sendMisplaced sends secrets in places where they do not belong.
func (p *secretSearch) sendMisplaced(s *installation, g grant, secret string) {
	t := s.t
	t.Helper()
	type fields map[string]string
	post := func(path string, body any) answer { return s.send(http.MethodPost, path, body) }
	own := func(method, path string, body any) answer {
		return s.send(method, path, body, "Authorization", "Bearer "+g.Access)
	}
	shown := func(authorization string) answer {
		return s.send(http.MethodGet, "/me", nil, "Authorization", authorization)
	}
	wrong, short, long := secret+"!", secret[:9], strings.Repeat(secret, 9)
	for what, a := range map[string]answer{
		"a password as a name":     post("/auth/login", fields{"username": secret + "?", "password": wrong}),
		"a password as an address": post("/auth/login", fields{"email": secret, "password": wrong}),
		"two names":                post("/auth/login", fields{"email": secret, "username": g.Refresh, "password": secret}),
		"a short password":         post("/auth/register", fields{"email": "x@example.com", "password": short}),
		"a long password":          post("/auth/register", fields{"email": "x@example.com", "password": long}),
		"a field too many":         post("/auth/login", fields{"password": secret, "pasword": secret}),
		"broken JSON":              post("/auth/login", []byte(`{"password":"`+secret+`","`+g.Refresh)),
		"a list":                   post("/auth/refresh", []byte(`{"refreshToken":["`+g.Refresh+`"]}`)),
		"an access token to spend": post("/auth/refresh", fields{"refreshToken": g.Access}),
		"nothing to leave":         post("/auth/logout", fields{"refreshToken": g.Refresh + "x"}),
		"a set-up code":            post("/auth/setup", fields{"code": g.Refresh, "email": secret, "password": secret}),
		"a refresh token to show":  shown("Bearer " + g.Refresh),
		"another scheme":           shown("Basic " + g.Access),
		"a token in a URL":         s.send(http.MethodGet, "/me/"+g.Access+"?token="+g.Refresh, nil),
		"a token as an id":         own(http.MethodDelete, "/me/sessions/"+g.Refresh, nil),
		"a password as a detail":   own(http.MethodPatch, "/me", fields{"username": secret + "?", "gender": secret}),
		"a wrong password": own(http.MethodPost, "/me/password",
			fields{"currentPassword": wrong, "newPassword": secret + g.Refresh}),
		"a password too short": own(http.MethodPost, "/me/password", fields{"currentPassword": secret, "newPassword": short}),
	} {
		p.wantRefusedAnswer(t, what, a)
	}
}

// databaseText returns the whole database as text; for SQLite, its files.
func (s *installation) databaseText() (all []byte) {
	s.t.Helper()
	if s.kind == embedded {
		for _, end := range []string{"", "-wal"} {
			file := testenv.Must(os.ReadFile(strings.TrimPrefix(s.env["DATABASE_URL"], "sqlite:") + end))(s.t)
			all = append(all, file...)
		}
		return all
	}
	s.database(func(db *sqldb.DB) error {
		tables, err := texts(s.t, db, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
		for _, name := range tables {
			rows, err := texts(s.t, db, `SELECT CAST(t AS TEXT) FROM "`+name+`" t`)
			if err != nil {
				return err
			}
			all = append(all, strings.Join(rows, "\n")...)
		}
		return err
	})
	return all
}

func texts(t *testing.T, db *sqldb.DB, text string) ([]string, error) {
	return sqldb.Collect(t.Context(), db, sqldb.Value[string], statement(text))
}

// redisDump returns all keys of Redis with their values, in the wire format.
func (s *installation) redisDump() []byte {
	s.t.Helper()
	read := map[string][]string{
		"string": {"GET", ""}, "hash": {"HGETALL", ""}, "set": {"SMEMBERS", ""}, "list": {"LRANGE", "", "0", "-1"},
		"zset": {"ZRANGE", "", "0", "-1", "WITHSCORES"}, "stream": {"XRANGE", "", "-", "+"},
	}
	var all bytes.Buffer
	documents := 0
	for key := range strings.Lines(s.keys()) {
		if key = strings.TrimSpace(key); key == "" || strings.ContainsAny(key[:1], "*$+") {
			continue // a length, or the end
		}
		kind := strings.TrimPrefix(strings.TrimSpace(strings.SplitAfter(s.ask("TYPE", key), "\n")[0]), "+")
		if kind == "none" { // gone meanwhile
			continue
		}
		command := append([]string(nil), read[kind]...)
		if len(command) == 0 {
			s.t.Fatalf("%s is a %q", key, kind)
		}
		command[1] = key
		all.WriteString(key + "\n" + s.ask(command...))
		if strings.HasPrefix(key, "user:") && kind == "string" {
			documents++
		}
	}
	if documents < 3 {
		s.t.Errorf("Redis holds %d documents of accounts", documents)
	}
	return all.Bytes()
}

// ask sends a command to Redis.
func (s *installation) ask(words ...string) string {
	s.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return s.redisReply(b.String())
}
