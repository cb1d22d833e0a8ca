import type { InstallTexts } from './texts.ts';

export const es: InstallTexts = {
  name: 'Español',
  direction: 'ltr',
  locale: 'es-ES',
  chooseLanguage: 'Idioma',
  ready: {
    title: 'Instala tu eSIM',
    text: 'Instálala en el teléfono que llevas de viaje, mejor antes de salir. Mantén la conexión wifi hasta el final. Solo se puede instalar una vez.',
  },
  installed: {
    title: 'Ya está instalada en un dispositivo',
    text: 'Esta eSIM está en un dispositivo, por eso ya no se muestra su código. Para pasarla a otro teléfono, pregunta donde la compraste.',
  },
  notDelivered: {
    title: 'Estamos preparando tu eSIM',
    text: 'Esta página se actualiza sola. Puedes cerrarla y volver.',
  },
  ended: {
    title: 'Esta eSIM no se puede instalar',
    text: 'Si no lo esperabas, pregunta donde la compraste.',
  },
  plan: {
    heading: 'Tu plan',
    dataLeft: 'Datos restantes',
    of: (left, total) => `${left} de ${total}`,
    installBy: 'Instalar antes del',
    firstUseBy: 'Usar por primera vez antes del',
    validFor: 'Válida desde el primer uso durante',
    timeLeft: 'Tiempo restante',
    validUntil: 'Válida hasta',
    asOf: (age) => `Último dato: ${age}. El consumo puede llevar hasta tres horas de retraso.`,
  },
  oneTap: {
    title: 'En este teléfono',
    text: 'Toca una vez y sigue las indicaciones.',
    iphone: 'Instalar en iPhone',
    iphoneNote: 'iOS 17.4 o posterior',
    android: 'Instalar en Android',
    androidNote: 'Teléfonos Android recientes',
  },
  qr: {
    title: 'Con la cámara',
    text: 'Abre esta página en otra pantalla y escanea el código con el teléfono.',
    label: 'Código QR que instala la eSIM',
  },
  byHand: {
    title: 'A mano',
    text: 'Si nada de lo anterior funciona, introduce estos datos cuando el teléfono los pida.',
    smdpAddress: 'Dirección SM-DP+ (iPhone)',
    matchingId: 'Código de activación (iPhone)',
    activationCode: 'Código de activación (Android)',
    apn: 'APN, solo si el teléfono lo pide',
    copy: 'Copiar',
    copied: 'Copiado',
  },
  steps: {
    heading: 'Paso a paso',
    iphone: {
      title: 'iPhone',
      steps: [
        'Abre Ajustes y después Datos móviles.',
        'Toca Añadir eSIM y después Usar código QR.',
        'Escanea el código, o toca Introducir datos manualmente y escribe las dos líneas de arriba.',
        'Toca Continuar y espera a que se active. Ponle un nombre, por ejemplo, Viaje.',
        'Al llegar: elige la eSIM para los datos móviles y activa la itinerancia de datos para ella.',
      ],
    },
    samsung: {
      title: 'Samsung Galaxy',
      steps: [
        'Abre Ajustes, después Conexiones y Administrador de SIM.',
        'Toca Añadir eSIM y después Escanear código QR.',
        'Escanea el código, o toca Introducir código de activación y escribe el código para Android.',
        'Toca Añadir y espera. Activa la eSIM en el Administrador de SIM.',
        'Al llegar: elige la eSIM para los datos móviles y activa Itinerancia de datos en Redes móviles.',
      ],
    },
    pixel: {
      title: 'Google Pixel y otros teléfonos Android',
      steps: [
        'Abre Ajustes, después Red e Internet y SIM.',
        'Toca Añadir SIM y después Configurar una eSIM.',
        'Escanea el código, o toca ¿Necesitas ayuda? y escribe a mano el código para Android.',
        'Toca Descargar y espera. Activa Usar SIM.',
        'Al llegar: activa Datos móviles e Itinerancia para la eSIM.',
      ],
    },
  },
  help: {
    heading: 'Si no funciona',
    causes: [
      {
        summary: 'El teléfono no muestra «Añadir eSIM».',
        nextStep: 'No admite eSIM o está bloqueado por un operador. Pregunta en la tienda que lo vendió.',
      },
      {
        summary: 'La instalación se detiene.',
        nextStep: 'Conéctate a una red wifi, reinicia el teléfono e instálala de nuevo en el mismo teléfono.',
      },
      {
        summary: 'El teléfono dice que el código ya se usó.',
        nextStep: 'Mira la lista de SIM: quizá la eSIM ya esté ahí, desactivada.',
      },
      {
        summary: 'Está instalada, pero no hay internet.',
        nextStep:
          'Activa la itinerancia de datos para la eSIM y elígela para los datos móviles. Después activa y desactiva el modo avión.',
      },
    ],
  },
  keepPrivate: 'No compartas la dirección de esta página: quien la tenga puede instalar la eSIM.',
  askShop: '¿Preguntas? Consulta a la tienda',
  topUps: {
    title: 'Recarga automática',
    text: 'Cuando te queden pocos datos, esta eSIM se recarga automáticamente, hasta el límite que fijes. Puedes desactivarla aquí en cualquier momento.',
    howMany: 'Recargas como máximo',
    days: 'Durante cuántos días',
    turnOn: 'Activar la recarga automática',
    turnOff: 'Desactivar la recarga automática',
    isOn: (used, most) => `Está activada: ${used} de un máximo de ${most} recargas usadas.`,
    until: (date) => `Termina el ${date}.`,
  },
  diagnosis: {
    NOT_DELIVERED: {
      summary: 'La eSIM aún no se ha entregado.',
      nextStep:
        'Suele tardar menos de un minuto después del pago. Si tarda más, pregunta donde la compraste.',
    },
    DELIVERY_FAILED: {
      summary: 'La eSIM no se entregó.',
      nextStep: 'Pregunta donde la compraste; el pago se devuelve.',
    },
    NOT_SCANNED: {
      summary: 'La eSIM aún no se ha instalado.',
      nextStep: 'Abre la página de instalación en el teléfono e instálala con wifi.',
    },
    DOWNLOAD_INTERRUPTED: {
      summary: 'La descarga en el teléfono empezó y no ha terminado.',
      nextStep:
        'Conéctate a una red wifi, reinicia el teléfono e instala la eSIM de nuevo en el mismo teléfono.',
    },
    SWITCHED_OFF: {
      summary: 'La eSIM está instalada y desactivada.',
      nextStep: 'Actívala en los ajustes de SIM del teléfono.',
    },
    NOT_CONNECTED: {
      summary: 'La eSIM está instalada y activada, pero aún no se ha conectado a una red.',
      nextStep: 'En el destino, activa la itinerancia de datos para ella y elígela para los datos móviles.',
    },
    NO_USAGE_YET: {
      summary: 'La eSIM se ha conectado y aún no se conoce ningún consumo.',
      nextStep:
        'Si no hay internet, activa la itinerancia de datos para la eSIM; si lo hay, no hay que hacer nada.',
    },
    ROAMING_LIKELY_OFF: {
      summary:
        'La eSIM se ha conectado, pero no consume datos: la itinerancia está probablemente desactivada.',
      nextStep:
        'Activa la itinerancia de datos para la eSIM, elígela para los datos móviles y después activa y desactiva el modo avión.',
    },
    WORKING: { summary: 'La eSIM funciona.', nextStep: 'No hay que hacer nada.' },
    USED_UP: {
      summary: 'Todos los datos de la eSIM se han consumido.',
      nextStep: 'Recárgala donde la compraste o compra una nueva.',
    },
    SUSPENDED: { summary: 'La eSIM está suspendida.', nextStep: 'Pregunta donde la compraste.' },
    DELETED: {
      summary: 'La eSIM se eliminó del teléfono y no se puede instalar de nuevo.',
      nextStep: 'Compra una nueva.',
    },
    EXPIRED: { summary: 'La eSIM ha caducado.', nextStep: 'Compra una nueva.' },
    CANCELLED: { summary: 'La eSIM se canceló.', nextStep: 'Pregunta donde la compraste.' },
    RETURNED: {
      summary: 'La eSIM se devolvió.',
      nextStep: 'Ya no se puede instalar. Pregunta donde la compraste.',
    },
    REPLACED: {
      summary: 'La eSIM se sustituyó por una nueva.',
      nextStep: 'Usa la nueva eSIM. La tienes de donde compraste esta.',
    },
  },
  notFound: {
    title: 'No hay ninguna eSIM en este enlace',
    text: 'El enlace está incompleto o fue sustituido por otro. Pide el enlace actual donde compraste la eSIM.',
  },
  tooMany: {
    title: 'Un momento, por favor',
    text: 'Esta página se abrió demasiadas veces. Ábrela de nuevo en un minuto.',
  },
  unavailable: {
    title: 'No disponible ahora',
    text: 'Tu eSIM no se ha perdido. Abre esta página de nuevo en un minuto.',
  },
  email: {
    subject: (item) => `Tu eSIM: ${item}`,
    sent: (sender, item) => `${sender} te ha enviado una eSIM: ${item}.`,
    onBehalfOf: (us, name) => `${us}, en nombre de «${name}»,`,
    reference: (reference) => `Pedido: ${reference}`,
    open: 'Abre este enlace en el teléfono que la usará y sigue los pasos:',
    personal: 'El enlace es personal: no lo compartas.',
    stop: 'Si no conoces al remitente o no quieres más correos como este:',
    test: 'Esto es una prueba. La eSIM no funciona.',
  },
};
