// A small place to keep things on this device: IndexedDB, or memory where there is none.

/**
 * @typedef {object} Store
 * @property {boolean} persistent whether it outlives the page
 * @property {(key: string) => Promise<any>} get
 * @property {(prefix: string) => Promise<any[]>} all the values whose keys start so
 * @property {(key: string, change: (value: any) => any) => Promise<any>} update read, change and
 *   write as one step, whatever other tabs do; undefined stands for nothing there
 * @property {() => Promise<void>} forget everything
 */

const DATABASE = "castell";
const TABLE = "kept";

/**
 * The store of this site on this device. Browsers may refuse one (private windows, settings): then
 * the store is in memory and says so.
 *
 * @param {IDBFactory | undefined} [factory]
 * @returns {Promise<Store>}
 */
export async function openStore(factory = globalThis.indexedDB) {
  try {
    const database = await open(factory);
    const store = databaseStore(database);
    await store.update("probe", () => 1);
    await store.update("probe", () => undefined);
    return store;
  } catch {
    return memoryStore();
  }
}

/**
 * @returns {Store} gone when the page is closed
 */
export function memoryStore() {
  /** @type {Map<string, any>} */
  const kept = new Map();
  return {
    persistent: false,
    get: async (key) => kept.get(key),
    all: async (prefix) =>
      [...kept].filter(([key]) => key.startsWith(prefix)).map(([, value]) => value),
    async update(key, change) {
      const value = change(kept.get(key));
      if (value === undefined) kept.delete(key);
      else kept.set(key, value);
      return value;
    },
    forget: async () => kept.clear(),
  };
}

/**
 * @param {IDBFactory} factory
 * @returns {Promise<IDBDatabase>}
 */
function open(factory) {
  return new Promise((resolve, reject) => {
    const request = factory.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("blocked"));
  });
}

/**
 * @param {IDBDatabase} database
 * @returns {Store}
 */
function databaseStore(database) {
  /**
   * @param {IDBTransactionMode} mode
   * @param {(table: IDBObjectStore, keep: (value: any) => void) => void} work
   * @returns {Promise<any>} what was kept, once it is written
   */
  function step(mode, work) {
    return new Promise((resolve, reject) => {
      // What was spent must survive a crash of the machine, not only of the page.
      const transaction = database.transaction(TABLE, mode, { durability: "strict" });
      /** @type {any} */
      let result;
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(transaction.error ?? new Error("not written"));
      work(transaction.objectStore(TABLE), (value) => {
        result = value;
      });
    });
  }

  return {
    persistent: true,
    get: (key) =>
      step("readonly", (table, keep) => {
        const request = table.get(key);
        request.onsuccess = () => keep(request.result);
      }),
    all: (prefix) =>
      step("readonly", (table, keep) => {
        const request = table.getAll(IDBKeyRange.bound(prefix, `${prefix}\uffff`));
        request.onsuccess = () => keep(request.result);
      }),
    update: (key, change) => {
      /** @type {unknown} */
      let refusal;
      return step("readwrite", (table, keep) => {
        const request = table.get(key);
        request.onsuccess = () => {
          try {
            const value = change(request.result);
            if (value === undefined) table.delete(key);
            else table.put(value, key);
            keep(value);
          } catch (error) {
            refusal = error;
            request.transaction?.abort();
          }
        };
      }).catch((error) => {
        throw refusal ?? error;
      });
    },
    forget: () => step("readwrite", (table) => void table.clear()),
  };
}
