package stocksql_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/redis/rueidis"

	"comanda/internal/authz"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stockredis"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

// callers is the number of concurrent callers, a multiple of the number of processors.
const callers = 128

// BenchmarkReservation measures a durable Try of one item, with this implementation and with that of inventory-tcc.md,
// in one run on the same PostgreSQL and Redis. The second figure over the first is the ratio in docs/capacity.md.
func BenchmarkReservation(b *testing.B) {
	b.Run("comanda", benchmarkOurs)
	b.Run("reference", benchmarkReference)
}

const benchItems = 100

func benchmarkOurs(b *testing.B) {
	db := sqldbtest.Postgres(b)
	redis, _ := redisdbtest.Real(b)
	orderingtest.Open(b, db, 1, 10)
	cache := stockredis.New(redis, stockredis.Config{Now: db.Now, Timeout: time.Second})
	ledger := stocksql.New(db)
	syncer := stock.NewSyncer(stock.SyncerConfig{Cache: cache, Store: ledger, Now: db.Now, Log: slog.New(slog.DiscardHandler)})
	reservations := stocksql.NewReservations(db, syncer, db.Now)
	fixture := &stock.ReservationService{Store: reservations, Admission: syncer, Now: db.Now}
	owner := authz.Actor{Kind: authz.Service, AllBranches: true}
	for i := range benchItems {
		testenv.Must(reservations.Adjust(b.Context(), owner, stock.Adjustment{
			Branch: 1, SKU: "item-" + strconv.Itoa(i), Kind: stock.Received, Units: stock.MaxAvailable, Create: true,
		}))(b)
	}
	testenv.NoError(b, syncer.Rebuild(b.Context(), stock.StockScope(1)))
	ctx, stop := context.WithCancel(b.Context())
	var loops sync.WaitGroup
	loops.Go(func() { _ = syncer.Apply(ctx) })
	b.Cleanup(func() { stop(); loops.Wait(); reservations.Stop(); syncer.Close() })

	reserveInParallel(b, func(n int64) error {
		_, _, err := fixture.Reserve(b.Context(), owner, stock.ReservationRequest{
			ID: uid.New(db.Now()), Branch: 1, Items: []stock.SKULine{{SKU: "item-" + strconv.FormatInt(n%benchItems, 10), Qty: 1}},
		})
		return err
	})
}

func reserveInParallel(b *testing.B, reserve func(n int64) error) {
	b.SetParallelism(callers)
	var n atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := reserve(n.Add(1)); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reservations/s")
}

// reference has the statements of inventory-tcc.md ("Updated Flow with Event Publishing"). For
// each message, a transaction checks that the message is new, writes the intended Redis operation, runs it by one
// script call, marks it as done, and writes the event and the message's id.
var reference = sqldb.Load(fstest.MapFS{
	"intent_create.sql": {Data: []byte(`CREATE TABLE ref_redis_outbox (id TEXT PRIMARY KEY, operation_type TEXT NOT NULL,
		item_id TEXT NOT NULL, order_id TEXT NOT NULL, quantity BIGINT NOT NULL, status TEXT NOT NULL, created_at BIGINT NOT NULL)`)},
	"event_create.sql": {Data: []byte(`CREATE TABLE ref_outbox_events (id TEXT PRIMARY KEY, aggregate_id TEXT NOT NULL,
		event_type TEXT NOT NULL, payload TEXT NOT NULL, status TEXT NOT NULL, created_at BIGINT NOT NULL)`)},
	"seen_create.sql": {Data: []byte(`CREATE TABLE ref_consumer_dedupe (consumer_name TEXT NOT NULL, message_id TEXT NOT NULL,
		processed_at BIGINT NOT NULL, PRIMARY KEY (consumer_name, message_id))`)},
	"seen_exists.sql": {Data: []byte(`SELECT count(*) FROM ref_consumer_dedupe WHERE consumer_name = $1 AND message_id = $2`)},
	"intent_insert.sql": {Data: []byte(`INSERT INTO ref_redis_outbox (id, operation_type, item_id, order_id, quantity, status, created_at)
		VALUES ($1, 'RESERVE', $2, $1, $3, 'PENDING', $4)`)},
	"intent_done.sql": {Data: []byte(`UPDATE ref_redis_outbox SET status = 'PROCESSED' WHERE id = $1`)},
	"event_insert.sql": {Data: []byte(`INSERT INTO ref_outbox_events (id, aggregate_id, event_type, payload, status, created_at)
		VALUES ($1, $1, 'inventory.reserved', $2, 'PENDING', $3)`)},
	"seen_insert.sql": {Data: []byte(`INSERT INTO ref_consumer_dedupe (consumer_name, message_id, processed_at) VALUES ($1, $2, $3)`)},
})

// reserveStock is the reserve_stock.lua of inventory-tcc.md, unchanged.
var reserveStock = rueidis.NewLuaScript(`
local inventory_key = KEYS[1]
local quantity = tonumber(ARGV[1])
local available = redis.call('HGET', inventory_key, 'available')
if not available then
    return {0, "ITEM_NOT_FOUND"}
end
available = tonumber(available)
if available < quantity then
    return {0, "INSUFFICIENT_STOCK", available}
end
redis.call('HINCRBY', inventory_key, 'available', -quantity)
redis.call('HINCRBY', inventory_key, 'reserved', quantity)
return {1, "SUCCESS", available - quantity}`)

// lettucePool is the connection pool size in the configuration of inventory-tcc.md.
const lettucePool = 10

func benchmarkReference(b *testing.B) {
	db := sqldbtest.Postgres(b)
	server := testenv.RedisServer(b)
	redis := testenv.Must(rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{server.Addr()}, DisableAutoPipelining: true, BlockingPoolSize: lettucePool, DisableCache: true,
		ForceSingleClient: true,
	}))(b)
	b.Cleanup(redis.Close)
	ctx := b.Context()
	for _, table := range []string{"intent_create", "event_create", "seen_create"} {
		testenv.Must(db.Exec(ctx, reference.Must(table)))(b)
	}
	for i := range benchItems {
		key := fmt.Sprintf("inventory:item-%d", i)
		set := redis.B().Hset().Key(key).FieldValue().FieldValue("available", strconv.Itoa(stock.MaxAvailable)).
			FieldValue("reserved", "0").FieldValue("sold", "0").Build()
		testenv.NoError(b, redis.Do(ctx, set).Error())
	}
	reserveInParallel(b, func(n int64) error {
		return referenceReserve(ctx, db, redis, uid.New(db.Now()), fmt.Sprintf("item-%d", n%benchItems))
	})
}

var errSeen = errors.New("the message was seen before")

func referenceReserve(ctx context.Context, db *sqldb.DB, redis rueidis.Client, order, item string) error {
	const consumer = "InventoryOrderHandler"
	return db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		now := db.Now().UnixMilli()
		seen, err := sqldb.Scalar[int64](ctx, tx, reference.Must("seen_exists"), consumer, order)
		if err != nil || seen > 0 {
			return errors.Join(err, errSeen)
		}
		if _, err := tx.Exec(ctx, reference.Must("intent_insert"), order, item, int64(1), now); err != nil {
			return err
		}
		if err := reserveStock.Exec(ctx, redis, []string{"inventory:" + item}, []string{"1"}).Error(); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, reference.Must("intent_done"), order); err != nil {
			return err
		}
		payload := fmt.Sprintf(`{"orderId":%q,"itemId":%q,"quantity":1}`, order, item)
		if _, err := tx.Exec(ctx, reference.Must("event_insert"), order, payload, now); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, reference.Must("seen_insert"), consumer, order, now)
		return err
	})
}
