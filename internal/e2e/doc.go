// Package e2e drives the built command from outside, as guests, operators and accidents do: over HTTP, on the command
// line, through Redis, through the broker and with signals. It uses nothing internal except the database's address, where
// a test checks what must not have changed or damages what must be detected.
//
// The binary is built once, with the tag fasthash: hashing a password costs next to nothing. TestOrder_paths and the tests of
// hashing run the binary as it is released.
//
// Every test runs on the installations that its promise concerns:
//
//	embedded  one process with SQLite, an embedded Redis store and events inside the process
//	servers   one process with its own PostgreSQL database, redis-server and RabbitMQ queues
//	pair      two processes on the same servers; requests alternate between them
//	cluster   like servers, with a Redis Cluster of three nodes
//
// The tests and the invariants that they check, I1 to I16 of docs/ARCHITECTURE.md and C4 of package cart:
//
//	TestOrder_paths            paid units are used, cancelled or expired ones can be bought again (I1, I3, I10)
//	TestCounter                only staff take payments at the counter and cancel for guests
//	TestLatePayment            a payment after the deadline becomes an order or a visible refund (I6)
//	TestSandbox_off_has_no_mock_callback  without the sandbox no request can act as a gateway
//	TestStorm                  500 guests and 50 units make 50 orders, whatever fails meanwhile (I2, I5, I9, I16)
//	TestFaults                 closed connections, a frozen process, evictions in Redis: no confirmed result is lost (I5, I9)
//	TestRebuild                orders continue while the admission cache of a branch with very many holds is rebuilt (I9)
//	TestClock                  after a clock was set, nothing expires too early or too late (I10)
//	TestPrevious               the previous release runs on the schema of this one
//	TestCluster                a Cluster node that dies, hangs, is emptied or replaced costs speed, not orders (I9, I16)
//	TestKeys                   an installation writes only declared keys to Redis, and the audit finds any other
//	TestRedisFault             with Redis dead or hung, guests are served, no limit opens and no logout is undone
//	TestLimits                 rate limits stop machines and do not affect people
//	TestRepetition             a request that is sent a hundred times at once has one effect and one response (I11)
//	TestBadInput               a refusal has a code and changes nothing; accepted text comes back as it was sent
//	TestBrokerOutage           orders continue without the broker; then every event arrives and counts once (I7, I15, I16)
//	TestInventory              reservations are exact whatever fails, restarts of the broker included (I1, I2, I7, I8)
//	TestCrash                  every confirmed order survives kill -9 unchanged (I5)
//	TestCheckout               a member's cart becomes an order completely or not at all, whatever fails (C4, I5, I11)
//	TestCommands               the commands' output and exit codes for scripts
//	TestSecrets                no secret is in a log, export, metric, response, Redis or, except tables' codes, in SQL
//	TestMember                 registration, verification, login and logout; an ended session is refused everywhere within 5 s
//	TestRoles_manager          staff accounts, their permissions, and the setup of the first owner
//	TestGuess                  guesses at codes and passwords are limited on every path, and do not block other logins
//	TestMail_survives_crashes  every promised e-mail is sent, whichever process dies
//	TestMail_order             a customer gets one e-mail that an order was received, and one receipt
//
// The business days of the demo's branches change at 21:00 UTC. A run across that instant may fail, because commands
// show the new day from then on.
package e2e
