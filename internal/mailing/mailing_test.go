package mailing_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"comanda/internal/account"
	"comanda/internal/account/accountsql"
	"comanda/internal/authz"
	"comanda/internal/authz/authzsql"
	"comanda/internal/mail"
	"comanda/internal/mail/mailsql"
	"comanda/internal/mailing"
	"comanda/internal/mailing/mailingsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var stmts = sqldb.Load(fstest.MapFS{
	"login.sql":    {Data: []byte(`UPDATE app_user SET last_login_at = $2 WHERE id = $1`)},
	"active.sql":   {Data: []byte(`INSERT INTO member_activity (day, user_id) VALUES ($2, $1)`)},
	"consents.sql": {Data: []byte(`SELECT given, source, locale FROM account_consent WHERE user_id = $1 ORDER BY id`)},
	"queued.sql":   {Data: []byte(`SELECT recipient, COUNT(*) FROM mail_outbox WHERE dead = 0 GROUP BY recipient`)},
	"many.sql": {Data: []byte(`INSERT INTO app_user (email, role_id, status, registered, created_at, updated_at)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
		SELECT 'many' || i || '@example.com', (SELECT id FROM role WHERE name = 'USER'), 'ACTIVE', 1, 1, 1 FROM n`)},
	"all_agree.sql": {Data: []byte(`INSERT INTO account_mail (user_id, locale, news, updated_at)
		SELECT id, '', 1, 1 FROM app_user WHERE email LIKE 'many%'`)},
	"disable.sql": {Data: []byte(`UPDATE app_user SET status = 'DISABLED' WHERE id = $1`)},
	"verify.sql":  {Data: []byte(`UPDATE app_user SET status = 'ACTIVE', registered = 1 WHERE id = $1`)},
})

// env is a restaurant with a store, a service and a sender. Its clock stands still until a test moves it.
type env struct {
	t        *testing.T
	db       *sqldb.DB
	now      time.Time
	store    *mailingsql.Store
	service  *mailing.Service
	segments *mailing.Segments
	accounts *accountsql.Accounts
	keys     account.Keys
	sender   *mail.Sender
	sent     []mail.Message
	fail     func(m mail.Message) error
	owner    authz.Actor
}

func each(t *testing.T, test func(h *env)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(newEnv(t, db)) })
}

func newEnv(t *testing.T, db *sqldb.DB) *env {
	t.Helper()
	h := &env{
		t: t, db: db, now: db.Now(), store: mailingsql.New(db), accounts: accountsql.NewAccounts(db),
		keys: account.Keys{Mail: account.NewKey()},
	}
	now := func() time.Time { return h.now }
	h.service = &mailing.Service{Store: h.store, CanSend: func() error { return nil }, Now: now}
	h.segments = &mailing.Segments{Store: h.store, Now: now}
	composer := &mailing.MessageComposer{
		Recipient: h.store.Recipient, RegisterPath: "/shop/verify",
		Restaurant: func(context.Context) (mailing.SenderInfo, error) {
			return mailing.SenderInfo{Name: "Quán Hoa", URL: "https://hoa.example"}, nil
		},
		Unsubscribe: func(user int64) (page, header string) {
			return "/shop/unsubscribe#" + h.keys.UnsubscribeToken(user), "/auth/unsubscribe/" + h.keys.UnsubscribeToken(user)
		},
	}
	h.sender = &mail.Sender{
		Store: mailsql.New(db), Transport: h, Now: now, MailingContent: composer.Content,
		Log: slog.New(slog.DiscardHandler),
	}
	testenv.NoError(t, authzsql.SyncPermissions(t.Context(), db, nil, h.now)) // creates the roles
	h.owner = authz.Actor{Kind: authz.Account, UserID: h.user("owner", account.Active, true), AllBranches: true}
	return h
}

// Send implements mail.Transport.
func (h *env) Send(_ context.Context, m mail.Message) error {
	if h.fail != nil {
		if err := h.fail(m); err != nil {
			return err
		}
	}
	h.sent = append(h.sent, m)
	return nil
}

// user creates a member with an address.
func (h *env) user(name string, s account.Status, registered bool, places ...string) (id int64) {
	h.t.Helper()
	u := account.User{
		Profile: account.Profile{Email: name + "@example.com", FirstName: name}, Role: authz.RoleUser, Status: s,
		Registered: registered, CreatedAt: h.now.Add(-1000 * time.Hour),
	}
	if name == "owner" {
		u.Role = authz.RoleOwner
	}
	if len(places) > 0 {
		u.Province, u.City = places[0], places[1]
	}
	testenv.NoError(h.t, h.db.Write(h.t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
		made, err := accountsql.InsertUser(ctx, tx, u)
		id = made.ID
		return err
	}))
	return id
}

// member creates a member who agrees to news, in a language.
func (h *env) member(name, locale string, places ...string) int64 {
	h.t.Helper()
	id := h.user(name, account.Active, true, places...)
	c := account.DefaultMailChoices()
	c.Locale = locale
	testenv.Must(h.accounts.SetMailChoices(h.t.Context(), id, c, new(true), "vi", h.now))(h.t)
	return id
}

func (h *env) exec(name string, args ...any) {
	h.t.Helper()
	testenv.Must(h.db.Exec(h.t.Context(), stmts.Must(name), args...))(h.t)
}

// news returns a request to write to a segment in two languages.
func news(s mailing.MemberSegment, key string) mailing.New {
	return mailing.New{Kind: mailing.News, Segment: s, ClientTxnID: key, Texts: []mailing.Text{
		{Locale: "vi", Subject: "Món mới", Text: "Bún chả.\n\nMời bạn."}, {Locale: "en", Subject: "New dishes", Text: "Bún chả.\n\nCome in."},
	}}
}

func (h *env) send(n mailing.New) mailing.Mailing {
	h.t.Helper()
	m, _, err := h.service.Send(h.t.Context(), h.owner, n)
	testenv.NoError(h.t, err)
	return m
}

// expand runs a round of the loop and returns how many e-mails it has queued.
func (h *env) expand() int {
	h.t.Helper()
	return testenv.Must(h.store.Expand(h.t.Context(), h.now))(h.t)
}

func (h *env) deliver() {
	h.t.Helper()
	testenv.NoError(h.t, h.sender.RunOnce(h.t.Context()))
}

// all sends everything, round by round.
func (h *env) all() {
	h.t.Helper()
	for range 100 {
		h.expand()
		h.deliver()
		h.now = h.now.Add(mailing.BatchInterval)
	}
}

func (h *env) mailing(id string) mailing.Mailing {
	h.t.Helper()
	page, _, err := h.service.Mailings(h.t.Context(), 100, 0)
	testenv.NoError(h.t, err)
	for _, m := range page {
		if m.ID == id {
			return m
		}
	}
	h.t.Fatalf("%s is not in the list", id)
	return mailing.Mailing{}
}

// to returns how many e-mails each address has got.
func (h *env) to() map[string]int {
	n := map[string]int{}
	for _, m := range h.sent {
		n[strings.TrimSuffix(m.To, "@example.com")]++
	}
	return n
}

// News go to members who agree, in their languages, with links that withdraw the consent (N2).
func TestMailing_news(t *testing.T) {
	each(t, func(h *env) {
		h.member("lan", "")
		h.member("ann", "en")
		h.member("chen", "zh-TW")
		h.user("quiet", account.Active, true)     // has not agreed
		h.user("pending", account.Pending, false) // has not verified
		staff := h.owner.UserID
		testenv.Must(h.accounts.SetMailChoices(t0(h), staff, account.MailChoices{}, new(true), "vi", h.now))(h.t)
		off := h.member("off", "")
		h.exec("disable", off)
		m := h.send(news(mailing.MemberSegment{}, "k"))
		if m.Matched != 5 || m.Excluded != 2 || m.State != mailing.Sending {
			h.t.Errorf("created %+v, want 5 members without 2", m)
		}
		h.all()
		testenv.Equal(h.t, h.to(), map[string]int{"lan": 1, "ann": 1, "chen": 1})
		for _, one := range h.sent {
			want := "Món mới"
			if strings.HasPrefix(one.To, "ann") {
				want = "New dishes"
			}
			token := one.Unsubscribe[strings.LastIndex(one.Unsubscribe, "/")+1:]
			if one.Subject != want || !strings.Contains(one.Text, "Bún chả.\n\n") || !strings.Contains(one.Text, "Quán Hoa") ||
				!strings.Contains(one.Text, "\nhttps://hoa.example/shop/unsubscribe#"+token+"\n") ||
				!strings.Contains(one.HTML, `<a href="https://hoa.example/shop/unsubscribe#`+token) ||
				!strings.HasPrefix(one.Unsubscribe, "https://hoa.example/auth/unsubscribe/") {
				h.t.Errorf("%s got %+v", one.To, one)
			}
		}
		got := h.mailing(m.ID)
		if got.State != mailing.Sent || got.Queued != 3 || got.Delivered != 3 || got.FinishedAt.IsZero() {
			h.t.Errorf("finished as %+v", got)
		}
	})
}

func t0(h *env) context.Context { return h.t.Context() }

// The processes that queue a mailing at the same time, some of which are killed in their transactions, write to each
// member once (N1).
func TestMailing_once_per_member(t *testing.T) {
	each(t, func(h *env) {
		const members = 90
		for i := range members {
			h.member(fmt.Sprint("m", i), "")
		}
		m := h.send(news(mailing.MemberSegment{}, "k"))
		for range 3 * members / mailing.BatchSize {
			var group sync.WaitGroup
			for i := range 4 {
				group.Go(func() {
					ctx, cancel := context.WithCancel(h.t.Context())
					defer cancel()
					if i%2 == 1 { // as if the process were killed somewhere in between
						go cancel()
					}
					if _, err := h.store.Expand(ctx, h.now); err != nil && i%2 == 0 {
						h.t.Error(err)
					}
				})
			}
			group.Wait()
			for to, n := range testenv.Must(sqldb.Map[string, int64](h.t.Context(), h.db, stmts.Must("queued")))(h.t) {
				if n != 1 {
					h.t.Errorf("%d e-mails wait for %s", n, to)
				}
			}
			h.deliver()
			h.now = h.now.Add(mailing.BatchInterval)
		}
		h.all()
		if got := h.mailing(m.ID); got.Delivered != members || len(h.to()) != members || len(h.sent) != members {
			h.t.Errorf("%d members got %d e-mails, counted as %+v", len(h.to()), len(h.sent), got)
		}
	})
}

// A mailing queues one batch per interval, and none while many wait, as with a mail server that is down (N4). Mailings
// share the limit.
func TestMailing_rate(t *testing.T) {
	each(t, func(h *env) {
		for i := range 2*mailing.MaxWaiting - 10 {
			h.member(fmt.Sprint("m", i), "")
		}
		h.send(news(mailing.MemberSegment{}, "one"))
		h.now = h.now.Add(time.Second)
		h.send(news(mailing.MemberSegment{}, "two"))
		if n := h.expand() + h.expand(); n != mailing.BatchSize {
			h.t.Errorf("%d e-mails at once, want %d", n, mailing.BatchSize)
		}
		h.now = h.now.Add(mailing.BatchInterval - 2*time.Second)
		if n := h.expand(); n != 0 {
			h.t.Errorf("%d e-mails before the interval has passed", n)
		}
		total := mailing.BatchSize
		for range 30 {
			h.now = h.now.Add(mailing.BatchInterval)
			total += h.expand()
		}
		testenv.Equal(h.t, mailing.MaxWaiting, total)
		h.deliver()
		if n := h.expand(); n != mailing.BatchSize {
			h.t.Errorf("%d e-mails after the others were sent, want %d", n, mailing.BatchSize)
		}
	})
}

// A consent that is withdrawn after the e-mail was queued, and an account that was disabled meanwhile, get none (N2).
func TestMailing_consent_withdrawn(t *testing.T) {
	each(t, func(h *env) {
		lan, minh := h.member("lan", ""), h.member("minh", "")
		h.member("hoa", "")
		m := h.send(news(mailing.MemberSegment{}, "k"))
		h.expand()
		accounts := &account.Service{Users: h.accounts, Keys: h.keys, Now: func() time.Time { return h.now }}
		token := h.keys.UnsubscribeToken(lan)
		for _, bad := range []string{"", "x", "1", token + "x", strings.Replace(token, ".", ".A", 1), fmt.Sprint(minh) + token[strings.Index(token, "."):]} {
			if err := accounts.WithdrawNews(t0(h), bad); !errors.Is(err, account.ErrUnsubscribe) {
				h.t.Errorf("WithdrawNews(%q) = %v, want ErrUnsubscribe", bad, err)
			}
		}
		for range 2 { // repeating it changes nothing
			testenv.NoError(h.t, accounts.WithdrawNews(t0(h), token))
		}
		h.exec("disable", minh)
		h.all()
		testenv.Equal(h.t, h.to(), map[string]int{"hoa": 1})
		if got := h.mailing(m.ID); got.Skipped != 2 || got.Delivered != 1 || got.State != mailing.Sent {
			h.t.Errorf("counted as %+v", got)
		}
		type consent struct {
			Given          int64
			Source, Locale string
		}
		proof := testenv.Must(sqldb.Collect(t0(h), h.db, sqldb.Row(func(c *consent) []any {
			return []any{&c.Given, &c.Source, &c.Locale}
		}), stmts.Must("consents"), lan))(h.t)
		testenv.Equal(h.t, proof, []consent{{1, "ACCOUNT", "vi"}, {0, "LINK", ""}})
		// A client that does not know the consent leaves it; one that repeats it proves nothing new.
		c := testenv.Must(h.accounts.SetMailChoices(t0(h), lan, account.DefaultMailChoices(), nil, "en", h.now))(h.t)
		if c.News {
			h.t.Error("the consent has come back")
		}
		for range 2 {
			c = testenv.Must(h.accounts.SetMailChoices(t0(h), lan, account.DefaultMailChoices(), new(true), "en", h.now))(h.t)
		}
		c = testenv.Must(h.accounts.SetMailChoices(t0(h), lan, c, nil, "en", h.now))(h.t)
		if !c.News {
			h.t.Error("the consent was lost")
		}
	})
}

// A cancelled mailing sends nothing more, and the members who were not written to are counted (N5).
func TestMailing_cancel(t *testing.T) {
	each(t, func(h *env) {
		for i := range 3 * mailing.BatchSize {
			h.member(fmt.Sprint("m", i), "")
		}
		m := h.send(news(mailing.MemberSegment{}, "k"))
		h.expand()
		h.deliver()
		h.now = h.now.Add(mailing.BatchInterval)
		h.expand()
		got := testenv.Must(h.service.Cancel(t0(h), h.owner, m.ID))(h.t)
		if got.State != mailing.Canceled || got.Delivered != mailing.BatchSize || got.Skipped != mailing.BatchSize {
			h.t.Errorf("cancelled as %+v", got)
		}
		h.all()
		if len(h.sent) != mailing.BatchSize {
			h.t.Errorf("%d e-mails were sent, want %d", len(h.sent), mailing.BatchSize)
		}
		if after := h.mailing(m.ID); after.Queued != got.Queued || after.State != mailing.Canceled {
			h.t.Errorf("after its end it has become %+v", after)
		}
		testenv.ErrorIs(h.t, mailing.ErrEnded, testenv.Err(h.service.Cancel(t0(h), h.owner, m.ID)), "Cancel again")
		if _, err := h.service.Cancel(t0(h), h.owner, "x"); !errors.Is(err, mailing.ErrMailing) {
			h.t.Errorf("Cancel of an unknown one = %v, want ErrMailing", err)
		}
	})
}

// An e-mail that is being sent when its mailing is cancelled counts as sent.
func TestMailing_cancel_while_sending(t *testing.T) {
	each(t, func(h *env) {
		h.member("lan", "")
		m := h.send(news(mailing.MemberSegment{}, "k"))
		h.expand()
		h.fail = func(mail.Message) error {
			_, err := h.service.Cancel(t0(h), h.owner, m.ID)
			return err
		}
		h.deliver()
		if got := h.mailing(m.ID); got.Delivered != 1 || got.Skipped != 0 {
			h.t.Errorf("counted as %+v", got)
		}
	})
}

// E-mails that the server refuses are counted, even if the process died before it recorded that. One that is sent again
// from the console counts as sent.
func TestMailing_failures(t *testing.T) {
	each(t, func(h *env) {
		for _, name := range []string{"lan", "minh", "hoa"} {
			h.member(name, "")
		}
		m := h.send(news(mailing.MemberSegment{}, "k"))
		h.expand()
		var refused string
		h.fail = func(m mail.Message) error {
			if strings.HasPrefix(m.To, "lan") {
				refused = m.ID
				return mail.ErrRefused
			}
			return nil
		}
		h.all()
		if got := h.mailing(m.ID); got.Failed != 1 || got.Delivered != 2 || got.State != mailing.Sent {
			h.t.Errorf("counted as %+v", got)
		}
		h.fail = nil
		testenv.NoError(h.t, h.db.Write(t0(h), func(ctx context.Context, tx sqldb.Tx) error {
			_, err := mailsql.SendAgain(ctx, tx, refused, h.now)
			return err
		}))
		h.deliver()
		if got := h.mailing(m.ID); got.Failed != 0 || got.Delivered != 3 {
			h.t.Errorf("after it was sent again: %+v", got)
		}

		second := h.send(news(mailing.MemberSegment{}, "k2"))
		h.expand()
		claimed := testenv.Must(mailsql.New(h.db).Claim(t0(h), h.now, h.now.Add(time.Minute), 10))(h.t)
		lost := mailsql.New(h.db).Queue // records nothing for mailings, as a process that is killed in between
		testenv.NoError(h.t, lost.DeleteQueued(t0(h), []string{claimed[0].ID}))
		h.now = h.now.Add(2 * time.Minute)
		h.all()
		if got := h.mailing(second.ID); got.Failed != 1 || got.Delivered != 2 || got.State != mailing.Sent {
			h.t.Errorf("with a lost record: %+v", got)
		}
	})
}

// A registration that was not finished is reminded of once, whatever the number of mailings (N3).
func TestMailing_reminder(t *testing.T) {
	each(t, func(h *env) {
		h.user("pending", account.Pending, false)
		late := h.user("late", account.Pending, false)
		h.member("lan", "")
		remind := mailing.New{Kind: mailing.Reminder, ClientTxnID: "r"}
		m := h.send(remind)
		if m.Matched != 3 || m.Excluded != 1 {
			h.t.Errorf("created %+v", m)
		}
		h.expand()
		h.exec("verify", late) // finishes it before the e-mail is sent
		h.all()
		testenv.Equal(h.t, h.to(), map[string]int{"pending": 1})
		if !strings.Contains(h.sent[0].Text, "https://hoa.example/shop/verify\n") || h.sent[0].Unsubscribe != "" {
			h.t.Errorf("the reminder is %+v", h.sent[0])
		}
		remind.ClientTxnID = "again"
		if _, _, err := h.service.Send(t0(h), h.owner, remind); !errors.Is(err, mailing.ErrNoRecipients) {
			h.t.Errorf("a second reminder = %v, want ErrNoRecipients", err)
		}
	})
}

// A member whose reminder was cancelled or expired before it was sent can be reminded again; one who was sent it cannot (N3).
func TestMailing_reminder_not_sent(t *testing.T) {
	each(t, func(h *env) {
		for i := range mailing.BatchSize + 1 {
			h.user(fmt.Sprint("p", i), account.Pending, false)
		}
		remind := func(key string) mailing.Mailing { return h.send(mailing.New{Kind: mailing.Reminder, ClientTxnID: key}) }

		canceled := remind("canceled")
		h.expand()
		testenv.Must(h.service.Cancel(t0(h), h.owner, canceled.ID))(h.t)
		expired := remind("expired")
		if expired.Excluded != 0 {
			h.t.Errorf("after a cancelled one %+v is created", expired)
		}
		h.expand()
		h.now = h.now.Add(mailing.TTL + time.Second) // the mail server is down for a day
		h.deliver()
		h.all()
		if got := h.mailing(expired.ID); got.Skipped != mailing.BatchSize || got.Delivered != 1 {
			h.t.Fatalf("the expired one is %+v", got)
		}
		third := remind("third")
		if third.Excluded != 1 {
			h.t.Errorf("after an expired one %+v is created", third)
		}
		h.all()
		for name, n := range h.to() {
			if n != 1 {
				h.t.Errorf("%s got %d reminders", name, n)
			}
		}
		testenv.Equal(h.t, mailing.BatchSize+1, len(h.sent))
	})
}

// A repeated request makes one mailing, also at the same time; another request under its id is refused.
func TestMailing_idempotent(t *testing.T) {
	each(t, func(h *env) {
		h.member("lan", "")
		n := news(mailing.MemberSegment{}, "k")
		var group sync.WaitGroup
		ids := make([]string, 8)
		fresh := make([]bool, len(ids))
		for i := range ids {
			group.Go(func() {
				m, isNew, err := h.service.Send(t0(h), h.owner, n)
				if err != nil {
					h.t.Error(err)
				}
				ids[i], fresh[i] = m.ID, isNew
			})
		}
		group.Wait()
		made := 0
		for i := range ids {
			if ids[i] != ids[0] {
				h.t.Errorf("request %d made %s, another %s", i, ids[i], ids[0])
			}
			if fresh[i] {
				made++
			}
		}
		testenv.Equal(h.t, 1, made)
		h.all()
		testenv.Equal(h.t, 1, len(h.sent))
		n.Texts[0].Subject = "other"
		if _, _, err := h.service.Send(t0(h), h.owner, n); !errors.Is(err, mailing.ErrKeyUsed) {
			h.t.Errorf("another request = %v, want ErrKeyUsed", err)
		}
	})
}

// A preview goes to its author in every language, whatever the consent, and is not in the list.
func TestMailing_preview(t *testing.T) {
	each(t, func(h *env) {
		h.member("lan", "")
		testenv.NoError(h.t, h.service.Preview(t0(h), h.owner, news(mailing.MemberSegment{}, "")))
		h.all()
		testenv.Equal(h.t, h.to(), map[string]int{"owner": 2})
		if _, total, err := h.service.Mailings(t0(h), 10, 0); err != nil || total != 0 {
			h.t.Errorf("the list has %d, %v", total, err)
		}
		testenv.NoError(h.t, h.store.Purge(t0(h), h.now.Add(time.Hour)))
	})
}

// Requests that are not valid are refused and change nothing.
func TestMailing_invalid(t *testing.T) {
	h := newEnv(t, sqldbtest.SQLite(t))
	text := mailing.Text{Locale: "en", Subject: "s", Text: "t"}
	with := func(change func(*mailing.Text)) []mailing.Text {
		c := text
		change(&c)
		return []mailing.Text{c}
	}
	for name, n := range map[string]mailing.New{
		"no text":        {},
		"two of one":     {Texts: []mailing.Text{text, text}},
		"language":       {Texts: with(func(c *mailing.Text) { c.Locale = "fr" })},
		"no subject":     {Texts: with(func(c *mailing.Text) { c.Subject = " " })},
		"long subject":   {Texts: with(func(c *mailing.Text) { c.Subject = strings.Repeat("đ", 151) })},
		"long text":      {Texts: with(func(c *mailing.Text) { c.Text = strings.Repeat("đ\n", 2501) + "x" })},
		"long paragraph": {Texts: with(func(c *mailing.Text) { c.Text = strings.Repeat("đ", 1001) })},
		"days":           {Texts: []mailing.Text{text}, Segment: mailing.MemberSegment{InactiveDays: 401}},
	} {
		n.Kind = mailing.News
		if _, _, err := h.service.Send(t.Context(), h.owner, n); err == nil || !strings.HasPrefix(err.Error(), "invalid") {
			t.Errorf("%s: %v, want invalid", name, err)
		}
	}
	h.exec("many", mailing.MaxRecipients+1)
	h.exec("all_agree")
	if _, _, err := h.service.Send(t.Context(), h.owner, news(mailing.MemberSegment{}, "k")); !errors.Is(err, mailing.ErrTooLarge) {
		t.Errorf("too many recipients: %v, want ErrTooLarge", err)
	}
	h.service.CanSend = func() error { return mailing.ErrNoMail }
	if err := h.service.Preview(t.Context(), h.owner, news(mailing.MemberSegment{}, "")); !errors.Is(err, mailing.ErrNoMail) {
		t.Errorf("without a mail server: %v, want ErrNoMail", err)
	}
	if _, total, _ := h.service.Mailings(t.Context(), 10, 0); total != 0 {
		t.Errorf("%d mailings were made", total)
	}
}

// user-store 002-A17: segments select members by place, registration and the time since their last login or activity, and
// an export has exactly those.
func TestSegments(t *testing.T) {
	each(t, func(h *env) {
		day := 24 * time.Hour
		login := func(id int64, ago time.Duration) { h.exec("login", id, h.now.Add(-ago).UnixMilli()) }
		login(h.member("lan", "vi", "Thừa Thiên Huế", "Huế"), 10*day)
		login(h.user("minh", account.Active, true, "Thừa Thiên Huế", "Hương Thủy"), 100*day)
		here := h.member("hoa", "", "", "HANOI")
		login(here, 100*day)
		h.exec("active", here, h.now.Add(-5*day).UTC().Format(time.DateOnly)) // stays logged in
		h.user("never", account.Pending, false, "", "Hanoi")
		for name, c := range map[string]struct {
			segment mailing.MemberSegment
			want    string
			counts  mailing.SegmentCounts
		}{
			"all":           {mailing.MemberSegment{}, "lan minh hoa never", mailing.SegmentCounts{Members: 4, News: 2, Remindable: 1}},
			"province":      {mailing.MemberSegment{Province: "Thừa Thiên Huế"}, "lan minh", mailing.SegmentCounts{Members: 2, News: 1}},
			"city":          {mailing.MemberSegment{City: "hanoi"}, "hoa never", mailing.SegmentCounts{Members: 2, News: 1, Remindable: 1}},
			"any case":      {mailing.MemberSegment{Province: "THỪA THIÊN HUẾ", City: "HUẾ"}, "lan", mailing.SegmentCounts{Members: 1, News: 1}},
			"no accents":    {mailing.MemberSegment{City: "huong thuy"}, "minh", mailing.SegmentCounts{Members: 1}},
			"part":          {mailing.MemberSegment{City: "Hương"}, "", mailing.SegmentCounts{}},
			"registered":    {mailing.MemberSegment{Registered: new(true)}, "lan minh hoa", mailing.SegmentCounts{Members: 3, News: 2}},
			"unregistered":  {mailing.MemberSegment{Registered: new(false)}, "never", mailing.SegmentCounts{Members: 1, Remindable: 1}},
			"30 days":       {mailing.MemberSegment{InactiveDays: 30}, "minh never", mailing.SegmentCounts{Members: 2, Remindable: 1}},
			"4 days":        {mailing.MemberSegment{InactiveDays: 4}, "lan minh hoa never", mailing.SegmentCounts{Members: 4, News: 2, Remindable: 1}},
			"no such place": {mailing.MemberSegment{City: "Hà Nội"}, "", mailing.SegmentCounts{}},
		} {
			if diff := cmp.Diff(testenv.Must(h.segments.Count(t0(h), c.segment))(h.t), c.counts); diff != "" {
				h.t.Errorf("segment %s counts (-got +want) %s", name, diff)
			}
			write := testenv.Must(h.segments.Export(t0(h), h.owner, c.segment))(h.t)
			var names []string
			testenv.NoError(h.t, write(t0(h), func(m mailing.SegmentMember) error {
				names = append(names, m.FirstName)
				return nil
			}))
			if got := strings.Join(names, " "); got != c.want {
				h.t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
	})
}

// An export has all members, however many pages they are.
func TestSegments_export_pages(t *testing.T) {
	h := newEnv(t, sqldbtest.SQLite(t))
	h.exec("many", 2500)
	n := 0
	write := testenv.Must(h.segments.Export(t.Context(), h.owner, mailing.MemberSegment{}))(t)
	seen := map[int64]bool{}
	testenv.NoError(t, write(t.Context(), func(m mailing.SegmentMember) error {
		n++
		seen[m.ID] = true
		return nil
	}))
	if n != 2500 || len(seen) != 2500 {
		t.Errorf("%d rows of %d members", n, len(seen))
	}
}
