package e2e

import (
	"fmt"
	"net/http"
	"net/mail"
	"net/url"
	"strings"
	"testing"

	"comanda/internal/mail/mailtest"
	"comanda/internal/sqldb"
)

// sentMailing has the fields of a mailing that these tests read.
type sentMailing struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	Matched  int    `json:"matched"`
	Excluded int    `json:"excluded"`
	Sent     int    `json:"sent"`
}

// newsSettings are those of a restaurant that sends through m and has a public address.
func newsSettings(m *mailtest.Server) settings {
	rules := mailSettings(m)
	rules["PUBLIC_URL"] = "https://localhost"
	return rules
}

// changeRows changes any number of rows, bypassing the product.
func (s *installation) changeRows(text string) {
	s.t.Helper()
	s.database(func(db *sqldb.DB) error {
		_, err := db.Exec(s.t.Context(), statement(text))
		return err
	})
}

// Every member who agrees gets a mailing once, although the processes that send it are killed again and again. An e-mail
// that was being sent at such a moment may come again, with the same Message-ID.
func TestMailing_survives_kills(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		m := mailtest.Start(t, "127.0.0.1:0", "house", "a planted password")
		s := open(t, k, newsSettings(m))
		const members = 110
		s.changeRows(`INSERT INTO app_user (email, role_id, status, registered, created_at, updated_at)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ` + fmt.Sprint(members) + `)
			SELECT 'reader' || i || '@example.com', (SELECT id FROM role WHERE name = 'USER'), 'ACTIVE', 1, 1, 1 FROM n`)
		s.changeRows(`INSERT INTO account_mail (user_id, locale, news, updated_at)
			SELECT id, 'en', 1, 1 FROM app_user WHERE email LIKE 'reader%'`)
		owner := s.createStaff("OWNER", "")
		var made sentMailing
		owner.send(http.MethodPost, "/api/mailings", map[string]any{
			"kind": "NEWS", "segment": map[string]any{"registered": true}, "clientTxnId": "kills",
			"texts": []map[string]string{{"locale": "vi", "subject": "Món mới", "text": "Mời bạn."}},
		}).want(t, http.StatusCreated, "").into(t, &made)
		for n := range members/20 + 2 {
			s.changeRows("UPDATE mailing SET next_at = 0") // the limit of time is tested elsewhere
			s.changeRows("UPDATE mail_outbox SET available_at = 0 WHERE available_at > 0 AND dead = 0")
			s.await(patience, func() error {
				left := s.queryNumber("SELECT count(*) FROM mailing WHERE state = 'SENDING'")
				if got := s.queryNumber("SELECT count(*) FROM mailing_recipient"); left > 0 && got < int64(min(members, 20*n+10)) {
					return fmt.Errorf("%d recipients", got)
				}
				return nil
			})
			v := s.servers[n%len(s.servers)]
			v.kill()
			v.start()
		}
		s.changeRows("UPDATE mail_outbox SET available_at = 0 WHERE available_at > 0 AND dead = 0")
		s.await(patience, func() error {
			s.changeRows("UPDATE mailing SET next_at = 0")
			if n := s.queryNumber("SELECT count(*) FROM mailing WHERE state = 'SENT'"); n != 1 {
				return fmt.Errorf("the mailing has not ended: %d were sent",
					s.queryNumber("SELECT count(*) FROM mailing_recipient WHERE state = 'SENT'"))
			}
			return nil
		})
		ids, per := map[string]string{}, map[string]int{}
		messages, _ := m.Messages()
		for _, one := range messages {
			to, id := one.Header.Get("To"), one.Header.Get("Message-Id")
			if ids[id] == "" {
				per[to]++
			}
			ids[id] = to
		}
		for to, n := range per {
			if n != 1 {
				t.Errorf("%s has got %d different e-mails", to, n)
			}
		}
		if len(per) != members {
			t.Errorf("%d members have got it, want %d", len(per), members)
		}
	}, embedded, servers)
}

// An administrator counts a group, exports it, and writes to it. A member who agreed gets the e-mail in their own language,
// and unsubscribes with one click of the mail program, which sends a form without a login.
func TestMailing(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		m := mailtest.New(t)
		s := open(t, k, newsSettings(m))
		owner, manager := s.createStaff("OWNER", ""), s.createStaff("MANAGER", firstBranch)
		lan := s.registerPerson("lan")
		s.registerPerson("minh") // never verifies the address
		s.await(patience, func() error {
			if codes, _ := acceptedCodes(t, m, lan.email); len(codes) == 0 {
				return fmt.Errorf("no code yet")
			}
			return nil
		})
		codes, _ := acceptedCodes(t, m, lan.email)
		lan.verify(codes[0]).want(t, http.StatusOK, "")
		lan.logIn()
		lan.send(http.MethodPatch, "/me", map[string]string{"city": "Huế", "surname": "=1+1"}).want(t, http.StatusOK, "")
		choices := map[string]any{"locale": "zh-TW", "orderReceived": true, "orderReady": true, "news": true}
		lan.send(http.MethodPut, "/me/mail", choices).want(t, http.StatusOK, "")
		var n struct{ Members, News, Remindable int }
		const hue = "?city=Hu%E1%BA%BF"
		owner.send(http.MethodGet, "/api/segments"+hue, nil).want(t, http.StatusOK, "").into(t, &n)
		if n.Members != 1 || n.News != 1 || n.Remindable != 0 {
			t.Errorf("the group in Huế has %+v", n)
		}
		file := owner.send(http.MethodGet, "/api/segments/export"+hue, nil).want(t, http.StatusOK, "")
		lines := strings.Split(strings.TrimSpace(string(file.body)), "\r\n")
		if len(lines) != 2 || !strings.Contains(lines[1], lan.email) || !strings.Contains(lines[1], "'=1+1") ||
			!strings.HasPrefix(lines[0], "\uFEFFid,email,phone,") {
			t.Errorf("the file is %q", file.body)
		}
		for _, path := range []string{"/api/segments", "/api/segments/export", "/api/mailings"} {
			manager.send(http.MethodGet, path, nil).want(t, http.StatusForbidden, "forbidden")
		}
		request := map[string]any{
			"kind": "NEWS", "segment": map[string]any{"city": "Huế"}, "clientTxnId": "hue",
			"texts": []map[string]string{
				{"locale": "vi", "subject": "Món mới", "text": "Mời bạn."}, {"locale": "zh-TW", "subject": "新菜色", "text": "歡迎光臨"},
			},
		}
		var made, again sentMailing
		owner.send(http.MethodPost, "/api/mailings", request).want(t, http.StatusCreated, "").into(t, &made)
		owner.send(http.MethodPost, "/api/mailings", request).want(t, http.StatusOK, "").into(t, &again)
		if again.ID != made.ID || made.Matched != 1 || made.Excluded != 0 {
			t.Errorf("created %+v, then %+v", made, again)
		}
		var arrived *mail.Message
		s.await(patience, func() error {
			messages, _ := m.Messages()
			for _, one := range messages {
				if one.Header.Get("List-Unsubscribe") != "" {
					arrived = one
					return nil
				}
			}
			return fmt.Errorf("of %d messages none is the mailing", len(messages))
		})
		link := strings.Trim(arrived.Header.Get("List-Unsubscribe"), "<>")
		path := strings.TrimPrefix(link, "https://localhost")
		if !strings.HasPrefix(path, "/auth/unsubscribe/") ||
			arrived.Header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" || !strings.Contains(plainText(arrived), "歡迎光臨") {
			t.Errorf("the e-mail has the header %v and the text %s", arrived.Header, plainText(arrived))
		}
		form := []byte(url.Values{"List-Unsubscribe": {"One-Click"}}.Encode())
		s.send(http.MethodPost, path, form, "Content-Type", "application/x-www-form-urlencoded").want(t, http.StatusNoContent, "")
		s.send(http.MethodPost, path+"x", form, "Content-Type", "application/x-www-form-urlencoded").
			want(t, http.StatusNotFound, "unsubscribe_link_invalid")
		var c struct{ News bool }
		lan.send(http.MethodGet, "/me/mail", nil).want(t, http.StatusOK, "").into(t, &c)
		if c.News {
			t.Error("she still gets news")
		}
		request["clientTxnId"] = "second"
		owner.send(http.MethodPost, "/api/mailings", request).want(t, http.StatusConflict, "mailing_without_recipients")
		s.await(patience, func() error {
			var list struct{ Items []sentMailing }
			owner.send(http.MethodGet, "/api/mailings", nil).want(t, http.StatusOK, "").into(t, &list)
			if len(list.Items) != 1 || list.Items[0].State != "SENT" || list.Items[0].Sent != 1 {
				return fmt.Errorf("the list is %+v", list.Items)
			}
			return nil
		})
	}, embedded, servers)
}
