package app

import (
	"encoding/json"
	"maps"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/account"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// mailedCode reads the code of the last e-mail to an address.
var mailedCode = sqldb.Load(fstest.MapFS{"code.sql": {Data: []byte(`
	SELECT fields FROM mail_outbox WHERE recipient = $1 ORDER BY id DESC LIMIT 1`)}}).Must("code")

// listedAccount is an account as staff see it.
type listedAccount struct {
	ID         string
	Email      string
	TrustScore int
	FraudFlags []string
	LastLogin  *time.Time
}

// TestReference_accounts goes through the rows of user-store.md (002) and redis-key-naming.md (001) about accounts: each is read
// by the person whom it is for, in another process than the one that has changed it, and in Redis.
func TestReference_accounts(t *testing.T) {
	redis := testenv.RedisServer(t)
	a, b := twoProcesses(t, seldom, redis.Addr(), redis.Addr())
	a.createUsers()
	maps.Copy(b.bearer, a.bearer)
	find := func(query string) (all []listedAccount) {
		t.Helper()
		var page struct{ Items []listedAccount }
		b.must(b.ask("owner", "GET", "/api/users?"+query, "")).into(t, &page)
		return page.Items
	}
	byEmail := func(address string) []listedAccount { return find("email=" + url.QueryEscape(address)) }
	member := email("member")
	found := byEmail(member)
	if len(found) != 1 {
		t.Fatalf("%s finds %+v", member, found)
	}
	id := found[0].ID
	document := func() string { return redis.Say("GET user:" + id) }
	eventually := func(what string, cond func() bool) {
		t.Helper()
		defer func() {
			if t.Failed() {
				t.Logf("%s, the document: %s", what, document())
			}
		}()
		testenv.Eventually(t, 20*time.Second, cond)
	}

	t.Run("002-A8 lastLogin", func(t *testing.T) {
		if l := byEmail(member)[0].LastLogin; l == nil || a.core.DB.Now().Sub(*l) > time.Hour {
			t.Errorf("lastLogin = %v, want that of this test", l)
		}
		eventually("lastLogin", func() bool { return strings.Contains(document(), `"lastLogin":"20`) })
	})
	t.Run("002-A6 002-A7 trustScore and fraudFlags", func(t *testing.T) {
		if u := byEmail(member)[0]; u.TrustScore != 100 || len(u.FraudFlags) != 0 {
			t.Errorf("a member without flags has %d and %v", u.TrustScore, u.FraudFlags)
		}
		a.must(a.ask("owner", "POST", "/api/users/"+id+"/flags", `{"kind":"NO_SHOW"}`))
		if u := byEmail(member)[0]; u.TrustScore >= 100 || len(u.FraudFlags) != 1 || u.FraudFlags[0] != "NO_SHOW" {
			t.Errorf("after a no-show: %+v", u)
		}
		eventually("flags", func() bool { return strings.Contains(document(), `"fraudFlags":["NO_SHOW"]`) })
	})
	t.Run("002-A18 lookup by an index", func(t *testing.T) {
		a.must(a.ask("member", "PATCH", "/me", `{"phone":"0912345678"}`))
		eventually("phone", func() bool {
			got := find("phone=0912345678")
			return len(got) == 1 && got[0].ID == id
		})
		if key := redis.Say("GET user:index:email:" + member); !strings.Contains(key, id) {
			t.Errorf("the index of %s has %q, want %s", member, key, id)
		}
		if got := byEmail(member[:3]); len(got) != 0 {
			t.Errorf("a part of an address finds %+v", got)
		}
	})
	t.Run("002-A19 the index follows a new address", func(t *testing.T) {
		const moved = "moved@matrix.example"
		a.must(a.ask("member", "POST", "/me/email", `{"currentPassword":"`+matrixPassword+`","email":"`+moved+`"}`))
		text := testenv.Must(sqldb.Scalar[string](t.Context(), a.core.DB, mailedCode, moved))(t)
		var sealed map[string]string
		testenv.NoError(t, json.Unmarshal([]byte(text), &sealed))
		code := testenv.Must(a.core.Accounts.Keys.DecryptFields(sealed))(t)[account.FieldCode]
		a.must(a.ask("member", "POST", "/me/email/confirm", `{"email":"`+moved+`","code":"`+code+`"}`))
		eventually("the new address", func() bool {
			return strings.Contains(redis.Say("GET user:index:email:"+moved), id) &&
				!strings.Contains(redis.Say("GET user:index:email:"+member), id)
		})
		if got := byEmail(moved); len(got) != 1 || got[0].ID != id || len(byEmail(member)) != 0 {
			t.Errorf("the new address finds %+v", got)
		}
	})
	t.Run("001-A8 active members", func(t *testing.T) {
		branch := testenv.Must(b.core.Menus.Branch(t.Context(), 1))(t)
		today := branch.Calendar().BizDate(b.core.DB.Now())
		eventually("active members", func() bool {
			var report struct{ Days []struct{ Daily int64 } }
			b.must(b.ask("managerA", "GET", "/api/reports/members?branchId=1&from="+today+"&to="+today, "")).into(t, &report)
			return len(report.Days) == 1 && report.Days[0].Daily >= 1
		})
		if kind := redis.Say("TYPE app:analytics:daily:{login}:" + today); !strings.Contains(kind, "string") {
			t.Errorf("the bitmap of the day is %q", kind)
		}
	})
	t.Run("001-B14 here now", func(t *testing.T) {
		eventually("members who are here", func() bool {
			var online struct{ Members int64 }
			a.must(a.ask("member", "GET", "/me", ""))
			b.must(b.ask("managerA", "GET", "/api/reports/online", "")).into(t, &online)
			return online.Members >= 1 && strings.Contains(redis.Say("TYPE app:counter:online:users"), "zset")
		})
	})
}

// TestReference_redis goes through the rows of restaurant-redis.md (000) about watching Redis.
func TestReference_redis(t *testing.T) {
	redis := testenv.RedisServer(t)
	a, _ := twoProcesses(t, seldom, redis.Addr(), redis.Addr())
	a.createUsers()
	t.Run("000-D3 memory", func(t *testing.T) {
		redis.Say("CONFIG SET maxmemory 1gb")
		testenv.Eventually(t, 20*time.Second, func() bool {
			metrics := string(a.must(a.ask("", "GET", "/metrics", "")).body)
			return strings.Contains(metrics, `redis_memory_limit_bytes{server="`+redis.Addr()+`"} 1.073741824e+09`) &&
				strings.Contains(metrics, `redis_memory_used_bytes{`)
		})
		// Almost full: the installation is degraded, and says why.
		redis.Say("CONFIG SET maxmemory 1mb")
		testenv.Eventually(t, 20*time.Second, func() bool {
			return strings.Contains(string(a.ask("", "GET", "/readyz", "").body), "redis_memory")
		})
		redis.Say("CONFIG SET maxmemory 0")
	})
	t.Run("000-D4 largest keys", func(t *testing.T) {
		var audit struct {
			Clean   bool
			Largest []struct {
				Key   string
				Bytes int64
			}
		}
		a.must(a.ask("owner", "GET", "/api/system/keys-audit", "")).into(t, &audit)
		if len(audit.Largest) == 0 || audit.Largest[0].Bytes <= 0 || audit.Largest[0].Key == "" {
			t.Errorf("audit = %+v, want the largest keys", audit)
		}
	})
	t.Run("000-D7 indexes are compared", func(t *testing.T) {
		verified := func() string { return string(a.must(a.ask("owner", "GET", "/api/system/index", "")).body) }
		testenv.Eventually(t, 20*time.Second, func() bool { return strings.Contains(verified(), `"clean":true`) })
		testenv.Eventually(t, 20*time.Second, func() bool {
			redis.Say("SADD dish:list 999999") // the sampler removes what no row has
			return strings.Contains(verified(), `"clean":false`)
		})
	})
}
