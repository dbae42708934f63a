-- PostgreSQL does not count ids that were given; SQLite does. Nothing is ever counted back.
SELECT 1
/*pg: ,
  setval(pg_get_serial_sequence('role', 'id'), GREATEST((SELECT MAX(id) FROM role), pg_sequence_last_value(CAST(pg_get_serial_sequence('role', 'id') AS regclass)), 1)),
  setval(pg_get_serial_sequence('permission', 'id'), GREATEST((SELECT MAX(id) FROM permission), pg_sequence_last_value(CAST(pg_get_serial_sequence('permission', 'id') AS regclass)), 1)),
  setval(pg_get_serial_sequence('app_user', 'id'), GREATEST((SELECT MAX(id) FROM app_user), pg_sequence_last_value(CAST(pg_get_serial_sequence('app_user', 'id') AS regclass)), 1)),
  setval(pg_get_serial_sequence('category', 'id'), GREATEST((SELECT MAX(id) FROM category), pg_sequence_last_value(CAST(pg_get_serial_sequence('category', 'id') AS regclass)), 1)),
  setval(pg_get_serial_sequence('dish', 'id'), GREATEST((SELECT MAX(id) FROM dish), pg_sequence_last_value(CAST(pg_get_serial_sequence('dish', 'id') AS regclass)), 1)),
  setval(pg_get_serial_sequence('cart', 'id'), GREATEST((SELECT MAX(id) FROM cart), pg_sequence_last_value(CAST(pg_get_serial_sequence('cart', 'id') AS regclass)), 1)),
  setval(pg_get_serial_sequence('cart_detail', 'id'), GREATEST((SELECT MAX(id) FROM cart_detail), pg_sequence_last_value(CAST(pg_get_serial_sequence('cart_detail', 'id') AS regclass)), 1)) */
