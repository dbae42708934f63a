package reporthttp

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"comanda/internal/authz"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/report"
	"comanda/internal/report/reportsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "0123456789abcdef0123456789abcdef"

var stmts = sqldb.Load(fstest.MapFS{
	"group.sql": {Data: []byte(`INSERT INTO option_group (id, kind, names, created_at, updated_at) VALUES ($1, 'SIZE', $2, 0, 0)`)},
	"name.sql":  {Data: []byte(`UPDATE dish SET names = $2 WHERE id = $1`)},
	"page.sql": {Data: []byte(`
		INSERT INTO payment_attempt (id, method, amount, currency, state, redirect_url, created_at, order_id)
		SELECT id, payment_method, total_amount, currency, 'CREATED', 'https://pay.example/', created_at, id
		FROM order_info WHERE id = $1`)},
	"views.sql": {Data: []byte(`
		INSERT INTO dish_view (branch_id, biz_date, dish_id, viewed, added)
		VALUES (1, '2026-02-26', 101, 8, 2), (1, '2026-02-27', 102, 20, 5)`)},
	"opened.sql": {Data: []byte(`
		INSERT INTO page_view (branch_id, biz_date, page, opened)
		VALUES (1, '2026-02-26', 'menu', 9), (1, '2026-02-27', 'menu', 1), (1, '2026-02-26', 'cart', 4)`)},
	"searched.sql": {Data: []byte(`
		INSERT INTO search_day (branch_id, biz_date, query, searches, missed)
		VALUES (1, '2026-02-26', 'pho', 8, 0), (1, '2026-02-27', 'pho', 2, 1), (1, '2026-02-26', '@banh', 3, 3),
		       (1, '2026-03-01', 'late', 9, 9), (2, '2026-02-26', 'elsewhere', 9, 9)`)},
	"begun.sql": {Data: []byte(`INSERT INTO cart_start (visit_id, branch_id, biz_date) VALUES ($1, 1, '2026-02-26')`)},
	"off.sql": {Data: []byte(`
		INSERT INTO sales_quota_counter (branch_id, stat_date, menu_item_id, cap) VALUES (1, '2026-02-26', $1, 0)`)},
	"step.sql": {Data: []byte(`
		INSERT INTO order_step (order_id, version, at, from_status, to_status, actor)
		VALUES ($1, 10, $2, 'PLACED', 'ACCEPTED', 'user:1'), ($1, 11, $3, 'PREPARING', 'READY', 'user:1'),
		       ($1, 12, $4, 'READY', 'SERVED', 'user:1')`)},
})

// reportServer serves the reports of a branch with four orders, all placed at noon. One was paid and cooked, and one of
// its two dishes was refunded. One expired at a gateway's page, one was cancelled, and one is open. A third dish was 86'd.
type reportServer struct {
	t   *testing.T
	url string
}

func open(t *testing.T) *reportServer {
	t.Helper()
	db := sqldbtest.SQLite(t)
	r := orderingtest.Open(t, db, 1, 3, stock.Unlimited, 5)
	noon := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC) // in Hồ Chí Minh City
	now := noon
	ledger := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, func() time.Time { return now })
	t.Cleanup(ledger.Stop)
	do := func(c ordering.Command) ordering.Order {
		t.Helper()
		res := testenv.Must(ledger.Do(t.Context(), c))(t)
		return res.Order
	}
	run := func(name string, args ...any) {
		t.Helper()
		testenv.Must(db.Exec(t.Context(), stmts.Must(name), args...))(t)
	}
	run("name", 101, `{"en":"=HYPERLINK(\"http://evil.example\")","vi":"Phở \"đặc biệt\", bò"}`)
	run("name", 102, `{"en":"@cold"}`)
	run("off", 103)
	large := r.Place("paid", noon, time.Hour, stock.Line{Item: 101, Qty: 3}, stock.Line{Item: 102, Qty: 1})
	large.Order.Items[0].Options = catalog.EncodeOptionLines([]catalog.OptionLine{
		{GroupID: 4, OptionID: 9, Kind: catalog.SizeGroup, Names: catalog.Texts{catalog.Vietnamese: "Lớn", catalog.English: "Large"}, Qty: 1},
	})
	run("group", 4, `{"en":"Size","vi":"Cỡ"}`)
	paid := do(large)
	left := do(r.Place("left", noon, time.Hour, stock.Line{Item: 102, Qty: 2}))
	gone := do(r.Place("gone", noon, time.Hour, stock.Line{Item: 102, Qty: 1}))
	do(r.Place("open", noon, time.Hour, stock.Line{Item: 102, Qty: 1}))
	now = noon.Add(time.Minute)
	do(orderingtest.Pay(paid.ID, now))
	run("step", paid.ID, noon.Add(2*time.Minute).UnixMilli(), noon.Add(10*time.Minute).UnixMilli(), noon.Add(11*time.Minute).UnixMilli())
	do(&ordering.Refund{
		OrderID: paid.ID, NewID: uid.New(now), Amount: 1000, Note: "cold", By: authz.System(),
	})
	run("page", left.ID)
	run("views")
	run("opened")
	run("begun", r.Visit)
	run("searched")
	do(&ordering.Settle{
		OrderID: left.ID, NewID: uid.New(now), Method: payment.Sandbox, State: payment.Failed, Source: ordering.SourceCallback,
		Raw: "vnp_ResponseCode=24", Today: "2026-02-26",
	})
	do(orderingtest.End(gone.ID, ordering.UserCanceled))
	now = noon.Add(2 * time.Hour)
	do(orderingtest.End(left.ID, ordering.Expired))
	return serve(t, report.NewService(reportsql.New(db), r.Catalog(t)))
}

// memberFigures implements report.MemberFigures.
type memberFigures struct{}

// MemberDays implements report.MemberFigures.
func (memberFigures) MemberDays(_ context.Context, from, to string) ([]report.MemberDay, error) {
	return []report.MemberDay{
		{Date: from, Daily: 1, Weekly: 2, Monthly: 3}, {Date: to, Daily: 2, Weekly: 3, Monthly: 4, Returning: 1},
	}, nil
}

func serve(t *testing.T, service *report.Service) *reportServer {
	t.Helper()
	service.Members = memberFigures{}
	conf := httpapi.Default()
	conf.ServiceToken = token
	s := testenv.Must(httpapi.New(conf, slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	s.SetAuthenticator(authzhttp.Authenticator{})
	Register(s.API(), service)
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return &reportServer{t, web.URL}
}

// answer has the parts of a response that tests compare.
type answer struct {
	StatusCode int
	Header     http.Header
}

func (h *reportServer) get(path string, headers ...string) (answer, string) {
	h.t.Helper()
	r := testenv.Must(http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.url+"/api/reports/"+path, nil))(h.t)
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	text := testenv.Must(io.ReadAll(res.Body))(h.t)
	return answer{res.StatusCode, res.Header}, string(text)
}

const february = "?branchId=1&from=2026-02-01&to=2026-02-28"

// Every report in full, as the console receives it.
func TestReports_json(t *testing.T) {
	h := open(t)
	about := `"branchId":"1","from":"2026-02-01","to":"2026-02-28","timezone":"Asia/Ho_Chi_Minh","currency":"VND"`
	for name, want := range map[string]string{
		"sales-days": `{` + about + `,"days":[{"date":"2026-02-26","placed":4,"sales":1,"canceled":2,"open":1,"gross":4000,"refunded":1000,"net":3000}],
			"totals":{"placed":4,"sales":1,"canceled":2,"open":1,"gross":4000,"refunded":1000,"net":3000}}`,
		"dishes": `{` + about + `,"items":[
			{"rank":1,"dishId":"101","name":"Phở \"đặc biệt\", bò","qty":3,"gross":3000,"share":0.75},
			{"rank":2,"dishId":"102","name":"@cold","qty":1,"gross":1000,"share":0.25}],
			"page":1,"size":20,"total":2,"totals":{"qty":4,"gross":4000}}`,
		"options": `{` + about + `,"items":[{"dishId":"101","dish":"Phở \"đặc biệt\", bò","groupId":"4","group":"Cỡ","optionId":"9",
			"name":"Lớn","qty":3,"portions":3,"perDish":1}],"page":1,"size":20,"total":1}`,
		"views": `{` + about + `,"items":[
			{"dishId":"102","name":"@cold","viewed":20,"added":5,"orders":1,"orderedShare":0.05},
			{"dishId":"101","name":"Phở \"đặc biệt\", bò","viewed":8,"added":2,"orders":1,"orderedShare":0.125}],
			"page":1,"size":20,"total":2,"totals":{"viewed":28,"added":7,"menuPages":10,"cartPages":4,"checkoutPages":0}}`,
		"carts": `{` + about + `,
			"days":[{"date":"2026-02-26","begun":1,"ordered":1,"abandoned":0,"open":0,"memberCarts":0,"memberAmount":0}],
			"totals":{"begun":1,"ordered":1,"abandoned":0,"open":0,"memberCarts":0,"memberAmount":0}}`,
		"searches": `{` + about + `,"missed":[{"text":"@banh","searches":3,"missed":3},{"text":"pho","searches":10,"missed":1}],
			"searched":[{"text":"pho","searches":10,"missed":1},{"text":"@banh","searches":3,"missed":3}],
			"totals":{"texts":2,"searches":13,"missed":4}}`,
		"quotas": `{` + about + `,"items":[{"date":"2026-02-26","itemId":"101","name":"Phở \"đặc biệt\", bò","cap":3,"held":0,"sold":3,
			"sellThrough":1,"soldOut":true,"soldOutAt":"2026-02-26T05:00:00Z","eightySixed":false},
			{"date":"2026-02-26","itemId":"103","name":"Dish","cap":null,"held":0,"sold":0,
			"sellThrough":null,"soldOut":false,"soldOutAt":null,"eightySixed":true}],"page":1,"size":20,"total":2}`,
		"tickets": `{` + about + `,"days":[
			{"date":"2026-02-26","phase":"ACCEPT","orders":1,"p50Ms":60000,"p90Ms":60000},
			{"date":"2026-02-26","phase":"PREPARE","orders":1,"p50Ms":480000,"p90Ms":480000},
			{"date":"2026-02-26","phase":"SERVE","orders":1,"p50Ms":60000,"p90Ms":60000},
			{"date":"2026-02-26","phase":"WHOLE","orders":1,"p50Ms":600000,"p90Ms":600000}],"hours":[
			{"hour":12,"phase":"ACCEPT","orders":1,"p50Ms":60000,"p90Ms":60000},
			{"hour":12,"phase":"PREPARE","orders":1,"p50Ms":480000,"p90Ms":480000},
			{"hour":12,"phase":"SERVE","orders":1,"p50Ms":60000,"p90Ms":60000},
			{"hour":12,"phase":"WHOLE","orders":1,"p50Ms":600000,"p90Ms":600000}]}`,
		"payments": `{` + about + `,"attempts":[
			{"method":"SANDBOX","state":"CANCELED","number":1,"amount":1000},
			{"method":"SANDBOX","state":"CREATED","number":1,"amount":1000},
			{"method":"SANDBOX","state":"FAILED","number":1,"amount":2000},
			{"method":"SANDBOX","state":"PAID","number":1,"amount":4000}],
			"failures":[{"method":"SANDBOX","result":"FAILED","code":"24","number":1}],
			"refunds":[{"method":"SANDBOX","reason":"STAFF","state":"DONE","number":1,"amount":1000}],
			"totals":{"captured":4000,"refunded":1000,"returned":0,"done":1000,"kept":3000}}`,
		"expired": `{` + about + `,"rows":[
			{"date":"2026-02-26","reason":"EXPIRED","orders":1,"amount":2000,"abandoned":1,"abandonedAmount":2000},
			{"date":"2026-02-26","reason":"USER_CANCELED","orders":1,"amount":1000,"abandoned":0,"abandonedAmount":0}],
			"totals":{"orders":2,"amount":3000,"abandoned":1,"abandonedAmount":2000}}`,
		"refunds": `{` + about + `,"rows":[{"date":"2026-02-26","method":"SANDBOX","reason":"STAFF","state":"DONE","number":1,"amount":1000}],
			"totals":{"number":1,"refunded":1000,"returned":0,"done":1000,"owed":0}}`,
	} {
		res, text := h.get(name + february)
		var got, wanted any
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("report %s: status %d with body %s, want JSON", name, res.StatusCode, text)
		}
		testenv.NoError(t, json.Unmarshal([]byte(want), &wanted))
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	var hours struct {
		Hours  []struct{ Hour, Placed, Sales, Gross int64 }
		Cells  []struct{ Weekday, Hour, Placed, Sales, Gross int64 }
		Totals struct{ Placed, Sales, Gross int64 }
	}
	_, text := h.get("sales-hours" + february)
	testenv.NoError(t, json.Unmarshal([]byte(text), &hours))
	if len(hours.Hours) != 24 || hours.Hours[12].Placed != 4 || len(hours.Cells) != 1 || hours.Cells[0].Weekday != 4 || hours.Totals.Gross != 4000 {
		t.Errorf("hours: %s", text)
	}
}

// The CSV is UTF-8 with a byte order mark, has the line ends of RFC 4180, contains all rows regardless of the page,
// and no text that a spreadsheet would execute.
func TestReports_csv(t *testing.T) {
	h := open(t)
	for name, want := range map[string]string{
		"sales-hours": "weekday,hour,placed,sales,gross,currency\r\n4,12,4,1,4000,VND\r\n",
		"sales-days":  "date,placed,sales,canceled,open,gross,refunded,net,currency\r\n2026-02-26,4,1,2,1,4000,1000,3000,VND\r\n",
		"dishes": "rank,dish_id,name,qty,gross,share,currency\r\n1,101,\"'=HYPERLINK(\"\"http://evil.example\"\")\",3,3000,0.7500,VND\r\n" +
			"2,102,'@cold,1,1000,0.2500,VND\r\n",
		"options": "dish_id,dish,group,option_id,option,qty,portions,per_dish\r\n" +
			"101,\"'=HYPERLINK(\"\"http://evil.example\"\")\",Size,9,Large,3,3,1.0000\r\n",
		"views": "dish_id,name,viewed,added,orders,ordered_share\r\n102,'@cold,20,5,1,0.0500\r\n" +
			"101,\"'=HYPERLINK(\"\"http://evil.example\"\")\",8,2,1,0.1250\r\n",
		"carts":    "date,begun,ordered,abandoned,open,member_carts,member_amount,currency\r\n2026-02-26,1,1,0,0,0,0,VND\r\n",
		"searches": "text,searches,without_result\r\npho,10,1\r\n'@banh,3,3\r\n",
		"members":  "date,daily,weekly,monthly,returning\r\n2026-02-01,1,2,3,0\r\n2026-02-28,2,3,4,1\r\n",
		"quotas": "date,item_id,name,cap,held,sold,sell_through,sold_out_at,eighty_sixed\r\n" +
			"2026-02-26,101,\"'=HYPERLINK(\"\"http://evil.example\"\")\",3,0,3,1.0000,2026-02-26T05:00:00Z,false\r\n2026-02-26,103,Dish,,0,0,,,true\r\n",
		"payments": "what,method,state,reason,number,amount,currency\r\npayment,SANDBOX,CANCELED,,1,1000,VND\r\n" +
			"payment,SANDBOX,CREATED,,1,1000,VND\r\n" +
			"payment,SANDBOX,FAILED,,1,2000,VND\r\npayment,SANDBOX,PAID,,1,4000,VND\r\nfailure,SANDBOX,FAILED,24,1,,\r\n" +
			"refund,SANDBOX,DONE,STAFF,1,1000,VND\r\n",
		"expired": "date,reason,orders,amount,abandoned,abandoned_amount,currency\r\n2026-02-26,EXPIRED,1,2000,1,2000,VND\r\n" +
			"2026-02-26,USER_CANCELED,1,1000,0,0,VND\r\n",
		"refunds": "date,method,reason,state,number,amount,currency\r\n2026-02-26,SANDBOX,STAFF,DONE,1,1000,VND\r\n",
	} {
		path := name + february + "&format=csv&locale=en"
		if name == "dishes" {
			path += "&size=1"
		}
		res, text := h.get(path)
		if text != httpapi.CSVMark+want {
			t.Errorf("%s: %d %q, want %q", name, res.StatusCode, text, httpapi.CSVMark+want)
		}
		for header, want := range map[string]string{
			"Content-Type":        "text/csv; charset=utf-8",
			"Content-Disposition": `attachment; filename="comanda-1-` + name + `-2026-02-01-2026-02-28.csv"`,
		} {
			if got := res.Header.Get(header); got != want {
				t.Errorf("%s: %s is %q", name, header, got)
			}
		}
	}
	_, text := h.get("tickets" + february + "&format=csv")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 9 || rows[8][1] != "12" || rows[8][2] != "WHOLE" {
		t.Errorf("tickets: %v %q", err, rows)
	}
}

// Amounts in CSV are decimal numbers of the currency. JSON has them in minor units.
func TestReports_csv_amounts(t *testing.T) {
	head := Head{Currency: money.USD}
	for name, c := range map[string]struct {
		view view
		want string
	}{
		"sales-hours": {hoursView{Head: head, Cells: []cell{{4, Hourly{12, 4, 1, 1205}}}}, "4,12,4,1,12.05,USD"},
		"sales-days":  {daysView{Head: head, Days: []day{{"2026-02-26", Figures{4, 1, 2, 1, 1250, 1300, -50}}}}, "2026-02-26,4,1,2,1,12.50,13.00,-0.50,USD"},
		"dishes":      {dishesView{Head: head, all: []dish{{1, "101", "Pho", 3, 3000, 0.75}}}, "1,101,Pho,3,30.00,0.7500,USD"},
		"carts":       {cartsView{Head: head, Days: []cartDay{{"2026-02-26", CartFigures{MembersAmount: 7}}}}, "2026-02-26,0,0,0,0,0,0.07,USD"},
		"payments":    {paymentsView{Head: head, Attempts: []attempts{{"SANDBOX", "PAID", 1, 99}}}, "payment,SANDBOX,PAID,,1,0.99,USD"},
	} {
		body := testenv.Must(c.view.sheet().csv())(t)
		if lines := strings.Split(string(body), "\r\n"); len(lines) != 3 || lines[1] != c.want {
			t.Errorf("%s: %q, want %q", name, lines, c.want)
		}
	}
}

func TestEscapeFormula(t *testing.T) {
	for cell, want := range map[string]string{
		"": "", "Phở": "Phở", "=1+1": "'=1+1", "+84": "'+84", "-1": "-1", "-1.5": "-1.5", "-cmd": "'-cmd", "@x": "'@x",
		"\t=1": "'\t=1", "\r=1": "'\r=1", "1=1": "1=1", "--1": "'--1", "-1+cmd|' /C calc'!A0": "'-1+cmd|' /C calc'!A0",
	} {
		if got := httpapi.EscapeFormula(cell); got != want {
			t.Errorf("%q: %q, want %q", cell, got, want)
		}
	}
}

func TestReports_pages(t *testing.T) {
	h := open(t)
	for query, want := range map[string]int{"&size=1": 1, "&size=1&page=2": 1, "&size=1&page=3": 0, "&page=100000&size=100": 0} {
		_, text := h.get("dishes" + february + query)
		var v struct {
			Items  []struct{ Rank int }
			Total  int
			Totals struct{ Gross int64 }
		}
		if err := json.Unmarshal([]byte(text), &v); err != nil || len(v.Items) != want || v.Total != 2 || v.Totals.Gross != 4000 {
			t.Errorf("page %s: error %v, body %s, want %d of two rows", query, err, text, want)
		}
	}
}

func TestReports_unchanged(t *testing.T) {
	h := open(t)
	res, _ := h.get("sales-days" + february)
	again, text := h.get("sales-days"+february, "If-None-Match", res.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified || text != "" {
		t.Errorf("unchanged report: status %d with body %q, want 304", again.StatusCode, text)
	}
}

func TestReports_refuses(t *testing.T) {
	h := open(t)
	for query, want := range map[string]string{
		"?branchId=1&from=2026-02-01&to=2027-02-02":            "422 invalid_span",
		"?branchId=1&from=2026-02-02&to=2026-02-01":            "422 invalid_span",
		"?branchId=1&from=2026-02-30&to=2026-03-01":            "422 invalid_span",
		"?branchId=1&from=2026-02-01":                          "422 invalid",
		"?branchId=0&from=2026-02-01&to=2026-02-02":            "422 invalid",
		"?branchId=9&from=2026-02-01&to=2026-02-02":            "404 branch_not_found",
		"?branchId=1&from=2026-02-01&to=2026-02-02&format=xls": "422 invalid",
	} {
		res, text := h.get("sales-days" + query)
		var p struct{ Code string }
		_ = json.Unmarshal([]byte(text), &p) // other responses have no code
		if got := strconv.Itoa(res.StatusCode) + " " + p.Code; got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// If a query fails, the report fails and its place is available for the next one.
func TestReports_broken(t *testing.T) {
	db := sqldbtest.SQLite(t)
	kitchen := orderingtest.Open(t, db, 1, 1).Catalog(t)
	h := serve(t, report.NewService(broken{reportsql.New(db)}, kitchen))
	for range 5 {
		if res, text := h.get("sales-days" + february); res.StatusCode != http.StatusInternalServerError {
			t.Fatalf("report without its table: status %d with body %s, want 500", res.StatusCode, text)
		}
	}
	if res, text := h.get("refunds" + february); res.StatusCode != http.StatusOK {
		t.Errorf("another report: status %d with body %s, want 200", res.StatusCode, text)
	}
}

type broken struct{ report.AllStore }

func (broken) Days(context.Context, report.Span) ([]report.Day, error) {
	return nil, io.ErrUnexpectedEOF
}

var _ report.Branches = (*catalog.MenuCache)(nil)
